//! The functions that JavaScript calls: plain exports over the memory of the module. Only this file may contain
//! `unsafe`: an unmangled export requires that no other library exports the same name.

#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::calls;
use crate::laboratory::Laboratory;

/// State that lasts from call to call. A module has one thread.
#[derive(Default)]
struct State {
    /// Buffer for the next call, written by JavaScript: the binary arguments, then the JSON text.
    call_buffer: Vec<u8>,
    answer: Vec<u8>,
    laboratory: Laboratory,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    /// The message of the last panic, outside of the state, which a panic may have left locked.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Allocates the buffer for the next call and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn allocate(bytes: usize) -> *mut u8 {
    std::panic::set_hook(Box::new(|panic| PANIC.set(panic.to_string())));
    STATE.with_borrow_mut(|state| {
        state.call_buffer = vec![0; bytes];
        state.call_buffer.as_mut_ptr()
    })
}

/// Executes the call in the buffer, whose JSON text follows the binary arguments. Returns 0, or 1 for an error.
#[unsafe(no_mangle)]
pub extern "C" fn call(bytes: usize) -> i32 {
    STATE.with_borrow_mut(|state| {
        let mut arguments = std::mem::take(&mut state.call_buffer);
        let json = arguments.split_off(bytes.min(arguments.len()));
        match calls::execute(&mut state.laboratory, &json, arguments) {
            Ok(answer) => {
                state.answer = answer.into_bytes();
                0
            }
            Err(error) => {
                state.answer = calls::error_json(&error);
                1
            }
        }
    })
}

/// Address of the answer to the last call.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Length of the answer in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}

/// Address of the message of the last panic.
#[unsafe(no_mangle)]
pub extern "C" fn panic() -> *const u8 {
    PANIC.with_borrow(|panic| panic.as_ptr())
}

/// Length of that message in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn panic_bytes() -> usize {
    PANIC.with_borrow(String::len)
}
