//! Devices of several units.

use sledlab_models::device::LIST;

#[test]
fn units_hold_every_block_once() {
    let mut checked_blocks = 0;
    for (kind, changes) in
        [("mems", "sleds = 3"), ("mems", "sleds = 2\nsled_map = 'round-robin'\nstripe_blocks = 7")]
    {
        let description = (LIST.find(kind).unwrap().make)(&changes.parse().unwrap()).unwrap();
        let units = description.units().unwrap().unwrap();
        let unit_blocks = units.unit.device().unwrap().mechanics().capacity_blocks();
        assert!(units.unit.units().unwrap().is_none(), "units of a unit");
        assert!(units.map.capacity_blocks() <= unit_blocks * units.count as u64);
        for lbn in (0..units.map.capacity_blocks()).step_by(99_991) {
            let (unit, unit_block) = units.map.locate(lbn);
            assert!(unit < units.count && unit_block < unit_blocks);
            let run = units.map.split(lbn, 1)[0];
            assert_eq!((run.unit, run.lbn, run.blocks), (unit, unit_block, 1));
            checked_blocks += 1;
        }
    }
    assert!(checked_blocks > 100);
}
