//! The whole of convict from outside: the binary, its folders and files, on the simulator and on real libraries
//! without a GPU. Knows what a user sees; reaches into no room.

mod bisect;
mod browser;
mod bundle;
mod canary;
mod cli;
mod compare;
mod convict;
mod doctor;
mod explain;
mod import;
mod isolation;
mod ladder;
mod minimize;
mod operations;
mod pipelines;
mod plan_only;
mod planning;
mod planted;
mod preflight;
mod recipe;
mod release;
mod replay;
mod resume;
mod scan;
mod screen;
mod tidy;
mod verify;
