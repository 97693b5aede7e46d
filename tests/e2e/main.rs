//! The whole of convict from outside: the binary, its folders and files, on the simulator and on real libraries
//! without a GPU. Knows what a user sees; reaches into no room.

mod bisect;
mod browser;
mod bundle;
mod canary;
mod cli;
mod compare;
mod convict;
mod explain;
mod import;
mod isolation;
mod ladder;
mod minimize;
mod operations;
mod pipelines;
mod planning;
mod planted;
mod release;
mod replay;
mod resume;
mod screen;
mod tidy;
mod verify;
