//! What JavaScript calls: plain exports over the memory of the module. The only file that may say `unsafe`: that names of
//! exports are not mangled is a promise that no other library exports the same.

#![allow(unsafe_code)]

use std::cell::RefCell;

use crate::calls;
use crate::laboratory::Laboratory;

/// Everything that lives from call to call. A module has one thread.
#[derive(Default)]
struct State {
    /// What a call is given; JavaScript writes into it.
    room: Vec<u8>,
    answer: Vec<u8>,
    laboratory: Laboratory,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    /// The message of a panic, apart from what the panic may have left locked.
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Makes room for what the next call is given, and tells where it is.
#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *mut u8 {
    std::panic::set_hook(Box::new(|panic| PANIC.set(panic.to_string())));
    STATE.with_borrow_mut(|state| {
        state.room = vec![0; bytes];
        state.room.as_mut_ptr()
    })
}

/// Makes the call whose JSON stands in the room behind so many bytes; 0, or 1 where the answer is a mistake.
#[unsafe(no_mangle)]
pub extern "C" fn call(bytes: usize) -> i32 {
    STATE.with_borrow_mut(|state| {
        let mut given = std::mem::take(&mut state.room);
        let json = given.split_off(bytes.min(given.len()));
        match calls::answer(&mut state.laboratory, &json, given) {
            Ok(answer) => {
                state.answer = answer.into_bytes();
                0
            }
            Err(error) => {
                state.answer = calls::mistake(&error);
                1
            }
        }
    })
}

/// Where the answer to the last call is.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
pub extern "C" fn answer_bytes() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}

/// Where the message of the last panic is.
#[unsafe(no_mangle)]
pub extern "C" fn panic() -> *const u8 {
    PANIC.with_borrow(|panic| panic.as_ptr())
}

/// Its length.
#[unsafe(no_mangle)]
pub extern "C" fn panic_bytes() -> usize {
    PANIC.with_borrow(String::len)
}
