// ---- Symbols ----------------------------------------------------------------------------------------------

template <class Function> static void find_optional(void *library, Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(library, name));
}

template <class Function> static void find(void *library, Function *&function, const char *name) {
    find_optional(library, function, name);
    if (function == nullptr) finish(NOT_APPLICABLE, "the library has no %s", name);
}

static bool reading = false;  // a plan from its JSON
