//! Broken and hostile files, and a library of this machine. Knows what must not happen.
