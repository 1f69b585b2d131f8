//! The NBD codec: the replies that clients receive, and the invariants of the codec.

use Command::{Cache, Flush, Read, Trim, Write, WriteZeroes};
use proptest::prelude::*;
use sledlab_emulation::DataExtent;
use sledlab_emulation::transport::nbd::{Command, ConnectionEnd, Errno, Event, Export, NbdRequest, Session};

use crate::client::{self, Client, Reply};
use crate::samples;
use crate::serve::{BYTES, Transcript, export, serve};

const ACK: u32 = 1;
const ERR_UNSUP: u32 = 0x8000_0001;
const ERR_INVALID: u32 = 0x8000_0003;
const ERR_UNKNOWN: u32 = 0x8000_0006;
const ERR_TOO_BIG: u32 = 0x8000_0009;

fn serve_whole(client: &Client) -> Transcript {
    serve(export(), &client.0, &[usize::MAX])
}

/// Options and kinds of the replies to them.
fn reply_kinds(transcript: &Transcript) -> Vec<(u32, u32)> {
    let pairs = transcript.parsed_replies().into_iter().map(|reply| match reply {
        Reply::Option { option, kind, .. } => (option, kind),
        Reply::ExportName { .. } => (1, 0),
        other => panic!("{other:?} is no reply to an option"),
    });
    pairs.collect()
}

fn option_replies(client: &Client) -> Vec<(u32, Vec<u8>)> {
    let replies = serve_whole(client).parsed_replies().into_iter().map(|reply| match reply {
        Reply::Option { kind, data, .. } => (kind, data),
        other => panic!("{other:?} is no reply to an option"),
    });
    replies.collect()
}

#[test]
fn every_command_is_parsed_and_answered() {
    let transcript = serve_whole(&samples::simple_session());
    let commands: Vec<Command> = transcript.requests.iter().map(|request| request.command).collect();
    assert_eq!(commands, [Write, Read, Write, Flush, Trim, WriteZeroes, Cache, Read]);
    assert_eq!(transcript.requests.iter().map(|r| r.fua).collect::<Vec<_>>()[2..5], [true, false, true]);
    assert!(transcript.requests[5].no_hole);
    assert_eq!(transcript.connection_end, Some(ConnectionEnd::Requested));
    let replies = &transcript.parsed_replies()[9..];
    let read = [vec![0; 12], vec![7; 18]].concat();
    assert_eq!(replies[1], Reply::Simple { errno: 0, cookie: 2, data: read });
    let read = [vec![0; 600], vec![7; 424], vec![0; 512], vec![0; 512]].concat();
    assert_eq!(replies[7], Reply::Simple { errno: 0, cookie: 8, data: read });
    assert_eq!(transcript.disk[65_535], 8);
}

#[test]
fn recorded_sessions_get_no_errors() {
    for session in samples::RECORDED_SESSIONS {
        let transcript = serve(export(), session, &[usize::MAX]);
        for reply in transcript.parsed_replies() {
            let is_error = match reply {
                Reply::Simple { errno, .. } => errno != 0,
                Reply::Error { .. } => true,
                // Clients request TLS, which may be refused.
                Reply::Option { kind, option, .. } => kind >> 31 == 1 && option != 5,
                Reply::ExportName { .. } | Reply::Data { .. } | Reply::Extents { .. } => false,
            };
            assert!(!is_error, "{reply:?}");
        }
        assert!(!matches!(transcript.connection_end, Some(ConnectionEnd::Violation(_))));
    }
}

#[test]
fn info_option_describes_export() {
    const RW: u16 = 0b101_0110_1101;
    let replies = option_replies(&Client::new(3).info(6, "disk", &[3, 2, 1]));
    let export = [&[0, 0], &BYTES.to_be_bytes()[..], &RW.to_be_bytes()].concat();
    assert_eq!(replies[0], (3, export));
    assert_eq!(replies[1], (3, [&[0, 1], &b"disk"[..]].concat()));
    assert_eq!(replies[2], (3, [&[0, 2], &b"a disk for tests"[..]].concat()));
    assert_eq!(replies[3], (3, [0, 3, 0, 0, 2, 0, 0, 0, 0x10, 0, 2, 0, 0, 0].to_vec()));
    assert_eq!(replies[4..], [(ACK, vec![])]);
    let listed = option_replies(&Client::new(3).option(3, &[]));
    assert_eq!(listed[0], (2, [&[0, 0, 0, 4], &b"disk"[..], b"a disk for tests"].concat()));
}

#[test]
fn transmission_flags_match_export() {
    let flags = |export: Export, client: Client| match &serve(export, &client.0, &[usize::MAX])
        .parsed_replies()[..]
    {
        [.., Reply::ExportName { flags, bytes: BYTES, .. }] => *flags,
        other => panic!("{other:?}"),
    };
    let client = || Client::new(3).option(1, b"");
    assert_eq!(flags(export(), client()), 0b101_0110_1101);
    assert_eq!(flags(export().rotational(true), client()), 0b101_0111_1101);
    assert_eq!(flags(export().read_only(true), client()), 0b101_0000_1111);
    assert_eq!(flags(export(), Client::new(3).option(8, &[]).option(1, b"")), 0b101_1110_1101);
}

#[test]
fn no_zeroes_flag_omits_padding() {
    for (flags, expected) in [(0, 124), (1, 124), (2, 0), (3, 0)] {
        let replies = serve_whole(&Client::new(flags).option(1, b"disk")).parsed_replies();
        assert!(
            matches!(replies[..], [Reply::ExportName { zeroes, .. }] if zeroes == expected),
            "{replies:?}"
        );
    }
    let replies = serve_whole(&Client::new(1).info(7, "", &[]).request(0, 0, 1, 0, 3));
    assert_eq!(replies.replies[0].len(), 16 + 3, "after GO there are none");
}

#[test]
fn structured_replies_carry_extents_and_errors() {
    let replies = serve_whole(&samples::structured_session()).parsed_replies();
    let replies = &replies[replies.len() - 5..];
    let data = [vec![0; 10], vec![7; 10]].concat();
    assert_eq!(replies[0], Reply::Simple { errno: 0, cookie: 1, data: vec![] });
    assert_eq!(replies[1], Reply::Data { cookie: 2, offset: 90, data });
    assert_eq!(replies[2], Reply::Extents { cookie: 3, extents: vec![(100, 3), (100, 0), (65_336, 3)] });
    assert_eq!(replies[3], Reply::Extents { cookie: 4, extents: vec![(50, 0)] });
    let message = "past the end of the device".to_owned();
    assert_eq!(replies[4], Reply::Error { cookie: 5, errno: Errno::Inval as u32, message });
}

#[test]
fn extents_are_merged_and_clipped() {
    let mut session = Session::new(export());
    let mut input = &Client::with_structured_replies().0[..];
    while !session.is_open() {
        input = &input[session.feed(input, &mut Vec::new()).0..];
    }
    let encoded_extents = |length: u32, single_extent: bool, extents: &[(u64, bool)]| {
        let (command, cookie) = (Command::BlockStatus, 5);
        let request =
            NbdRequest { cookie, command, offset: 0, length, fua: false, no_hole: false, single_extent };
        let extents: Vec<DataExtent> = extents
            .iter()
            .map(|(length, allocated)| DataExtent { length: *length, allocated: *allocated })
            .collect();
        let mut out = Vec::new();
        session.replies().encode_extents(&mut out, &request, &extents);
        match client::parse_reply(&out) {
            Reply::Extents { cookie: 5, extents } => extents,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(
        encoded_extents(600, false, &[(500, true), (1 << 40, false)]),
        [(500, 0), (100, 3)],
        "cut at the end"
    );
    assert_eq!(
        encoded_extents(600, false, &[(600, false), (1, true)]),
        [(600, 3)],
        "extents beyond the range are omitted"
    );
    assert_eq!(
        encoded_extents(600, false, &[(200, true), (200, true)]),
        [(400, 0)],
        "neighbors are one; less is enough"
    );
    assert_eq!(
        encoded_extents(600, true, &[(1, true), (2, true), (3, false), (4, true)]),
        [(3, 0)],
        "one is enough"
    );
    assert_eq!(encoded_extents(600, false, &[]), [(600, 0)], "of what is not known, data is supposed");
    let many: Vec<(u64, bool)> = (0..100_000).map(|i| (1, i % 2 == 0)).collect();
    assert_eq!(encoded_extents(u32::MAX, false, &many).len(), 1 << 16, "a reply has an end");
}

#[test]
fn buffer_is_bounded_by_longest_option() {
    let long_query = |count| "q".repeat(count);
    for (name, last_query, kind) in [
        ("disk", "base:allocation", 4),
        (&*long_query(4096), "", ERR_UNKNOWN),
        (&*long_query(4096), &*long_query(4096), ERR_TOO_BIG),
    ] {
        let queries = [&*long_query(4096), &*long_query(4096), last_query];
        let client = Client::new(3).option(8, &[]).contexts(10, name, &queries);
        // `serve` checks the memory in use after every byte.
        let transcript = serve(export(), &client.0, &[1]);
        assert_eq!(reply_kinds(&transcript)[1], (10, kind));
    }
    let client = Client::new(3).option(8, &[]).contexts(10, "", &[&*long_query(4097)]);
    assert_eq!(reply_kinds(&serve_whole(&client))[1], (10, ERR_INVALID));
}

#[test]
fn invalid_options_are_refused() {
    let expected = [
        (5, ERR_UNSUP),
        (4, ERR_UNSUP),
        (10, ERR_INVALID),
        (8, ERR_INVALID),
        (8, ACK),
        (9, 4),
        (9, ACK),
        (9, 4),
        (9, ACK),
        (10, ERR_UNKNOWN),
        (10, 4),
        (10, ACK),
        (7, ERR_UNKNOWN),
        (7, ERR_INVALID),
        (3, ERR_INVALID),
        (9, ERR_TOO_BIG),
        (2, ACK),
    ];
    let transcript = serve_whole(&samples::refused_options_session());
    assert_eq!(reply_kinds(&transcript), expected);
    assert_eq!(transcript.connection_end, Some(ConnectionEnd::Requested));
}

#[test]
fn new_context_replaces_previous_one() {
    let client = || Client::new(3).option(8, &[]).contexts(10, "", &["base:allocation"]);
    let reply = |client: Client| {
        serve_whole(&client.info(7, "", &[]).request(0, 7, 1, 0, 512)).parsed_replies().pop()
    };
    assert!(matches!(reply(client()), Some(Reply::Extents { .. })));
    for client_without_context in [
        client().contexts(10, "", &[]),
        client().contexts(10, "", &["base:"]),
        client().contexts(10, "other", &["base:allocation"]),
        client().option(10, &[1]),
    ] {
        let last_reply = reply(client_without_context);
        assert!(matches!(last_reply, Some(Reply::Error { errno: 22, .. })), "{last_reply:?}");
    }
    let listed = reply(client().contexts(9, "", &[]));
    assert!(matches!(listed, Some(Reply::Extents { .. })), "a list changes nothing");
}

#[test]
fn unservable_request_gets_errno() {
    let transcript = serve_whole(&samples::refused_requests_session());
    let replies = transcript.parsed_replies();
    let errors: Vec<(u64, u32)> = replies[1..]
        .iter()
        .map(|reply| match reply {
            Reply::Simple { errno, cookie, .. } => (*cookie, *errno),
            other => panic!("{other:?}"),
        })
        .collect();
    let (inval, nospc) = (Errno::Inval as u32, Errno::NoSpc as u32);
    let expected = [nospc, inval, inval, inval, inval, inval, inval, inval, nospc, inval, 0];
    assert_eq!(errors, (1..).zip(expected).collect::<Vec<_>>());
    assert_eq!(transcript.requests.len(), 1);
    assert!(transcript.disk.iter().all(|byte| *byte == 0), "refused data was written");
}

#[test]
fn read_only_export_refuses_changes() {
    let client = Client::new(3).info(7, "", &[]).write(0, 1, 0, b"data");
    let client =
        client.request(0, 4, 2, 0, 4).request(0, 6, 3, 0, 4).request(0, 0, 4, 0, 4).request(0, 3, 5, 0, 0);
    let transcript = serve(export().read_only(true), &client.0, &[usize::MAX]);
    let errors: Vec<u8> = transcript.replies.iter().map(|reply| reply[7]).collect();
    assert_eq!(errors, [Errno::Perm as u8, Errno::Perm as u8, Errno::Perm as u8, 0, 0]);
}

#[test]
fn protocol_violations_close_the_connection() {
    let old_style = Client::new(0).option(3, &[]);
    let mut not_an_option = Client::new(3);
    not_an_option.0.extend_from_slice(&[1; 16]);
    let mut not_a_request = Client::new(3).option(1, b"");
    not_a_request.0.extend_from_slice(&[1; 28]);
    let violations = [
        Client::new(4),
        old_style,
        not_an_option,
        not_a_request,
        Client::new(3).option(1, b"other"),
        Client::new(3).option(1, &[b'd'; 4097]),
    ];
    for client in violations {
        let transcript = serve_whole(&client);
        assert!(matches!(transcript.connection_end, Some(ConnectionEnd::Violation(_))), "{:?}", client.0);
        // Input after a violation is not parsed.
        let transcript_with_later_input = serve(export(), &client.option(1, b"disk").0, &[5]);
        assert_eq!(transcript_with_later_input, transcript);
    }
}

#[test]
fn hostile_lengths_take_no_memory() {
    for (option, kind) in [(3, ERR_TOO_BIG), (7, ERR_TOO_BIG), (9, ERR_TOO_BIG), (99, ERR_UNSUP)] {
        let mut session = Session::new(export());
        let mut head = Client::new(3).option(option, &[]).0;
        let at = head.len() - 4;
        head[at..].copy_from_slice(&u32::MAX.to_be_bytes());
        let mut replies = Vec::new();
        assert_eq!(session.feed(&head, &mut replies), (head.len(), Event::More));
        let piece = vec![0; 1 << 24];
        for _ in 0..255 {
            assert_eq!(session.feed(&piece, &mut replies), (piece.len(), Event::More));
        }
        assert_eq!(session.buffered_bytes(), 0);
        assert_eq!(session.feed(&piece, &mut replies), (piece.len() - 1, Event::Replied));
        assert_eq!(replies[12..16], u32::to_be_bytes(kind));
    }
    // Counts within options that exceed the length of the option.
    let counts = [
        [0xff; 4].to_vec(),
        [&[0; 4], &[0xff; 4][..]].concat(),
        [&[0, 0, 0, 1, b'd'], &[0xff; 2][..]].concat(),
    ];
    for option in [6, 7, 9, 10] {
        for data in &counts {
            let replies = reply_kinds(&serve_whole(&Client::new(3).option(8, &[]).option(option, data)));
            assert_eq!(replies[1..], [(option, ERR_INVALID)], "{data:?}");
        }
    }
}

#[test]
fn oversized_write_is_skipped_completely() {
    let mut session = Session::new(export());
    let mut replies = Vec::new();
    let mut client = Client::new(3).option(1, b"").request(0, 1, 1, 0, (32 << 20) + 1).0;
    client.resize(client.len() + (32 << 20), 7);
    let mut parsed_bytes = 0;
    while parsed_bytes < client.len() {
        parsed_bytes += session.feed(&client[parsed_bytes..], &mut replies).0;
    }
    assert_eq!((replies.len(), session.buffered_bytes()), (10, 0), "data is not kept");
    assert_eq!(session.feed(&[7], &mut replies), (1, Event::Replied));
    assert_eq!(replies[14..18], u32::to_be_bytes(Errno::Inval as u32));
}

#[test]
fn session_prefixes_give_transcript_prefixes() {
    for session in samples::sessions() {
        let transcript = serve(export(), &session, &[usize::MAX]);
        transcript.parsed_replies();
        for length in 0..session.len() {
            let partial_transcript = serve(export(), &session[..length], &[usize::MAX]);
            assert!(partial_transcript.is_prefix_of(&transcript), "{length}");
            assert_eq!(serve(export(), &session, &[length, usize::MAX]), transcript, "{length}");
        }
        assert_eq!(serve(export(), &session, &[1]), transcript, "byte by byte");
    }
}

#[test]
fn invalid_exports_are_refused() {
    for (name, bytes) in [("a\0b", 512), (&*"n".repeat(4097), 512), ("n", 0), ("n", 513)] {
        let error = Export::new(name, "", bytes).expect_err("refused");
        assert!(error.remedy().is_some());
    }
}

fn request() -> impl Strategy<Value = (u16, u16, u64, u64, Vec<u8>)> {
    let place = prop_oneof![0..BYTES, BYTES - 16..BYTES + 16, any::<u64>()];
    let flags = prop_oneof![4 => Just(0), 1 => Just(1), 1 => 0_u16..32];
    (flags, 0_u16..9, any::<u64>(), place, prop::collection::vec(any::<u8>(), 0..300))
}

fn session(start: Client, requests: &[(u16, u16, u64, u64, Vec<u8>)]) -> Vec<u8> {
    let send = |client: Client, (flags, command, cookie, offset, data): &(u16, u16, u64, u64, Vec<u8>)| {
        match command {
            1 => client.write(*flags, *cookie, *offset, data),
            _ => client.request(*flags, *command, *cookie, *offset, data.len() as u32),
        }
    };
    requests.iter().fold(start, send).0
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn input_chunking_does_not_change_transcript(
        requests in prop::collection::vec(request(), 0..20),
        sizes in prop::collection::vec(1_usize..200, 0..200),
        structured in any::<bool>(),
    ) {
        let start = if structured { Client::with_structured_replies() } else { Client::new(1).info(7, "", &[]) };
        let bytes = session(start, &requests);
        let transcript = serve(export(), &bytes, &[usize::MAX]);
        prop_assert_eq!(&serve(export(), &bytes, &sizes), &transcript);
        prop_assert_eq!(&serve(export(), &bytes, &[1]), &transcript);
        // Every request before the first disconnect has one reply with its cookie.
        let disconnect_index = requests.iter().position(|request| request.1 == 2).unwrap_or(requests.len());
        let cookie = |reply: &Vec<u8>| u64::from_be_bytes(reply[8..16].try_into().unwrap());
        let cookies: Vec<u64> = transcript.replies.iter().map(cookie).collect();
        let sent_cookies: Vec<u64> = requests[..disconnect_index].iter().map(|request| request.2).collect();
        prop_assert_eq!(cookies, sent_cookies);
        transcript.parsed_replies();
    }

    #[test]
    fn arbitrary_input_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400), open in any::<bool>()) {
        let mut session = if open { Client::with_structured_replies() } else { Client::new(3) }.0;
        session.extend_from_slice(&bytes);
        let transcript = serve(export(), &session, &[usize::MAX]);
        prop_assert_eq!(serve(export(), &session, &[3]), transcript);
    }
}
