//! Rules on machines that are made up: each fixture breaks one thing. Knows what must be said of it.
