//! The times of each network: closed forms, and a model of links that sorts packets by time.

mod closed_form;
pub mod packet_traffic;
mod reference_model;
