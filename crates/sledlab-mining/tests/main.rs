//! Integration tests of sledlab-mining in one program, which links once.

mod generators;
mod hash_tree;
mod units;
