//! What is known of the document so far: enough to guess the numbers of the next update.

/// An item of the document: the number of its client in [`State::clients`], and its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Id {
    pub client: u32,
    pub clock: u64,
}

impl Id {
    /// The item `by` clocks later.
    pub fn after(self, by: u64) -> Self {
        Self { clock: self.clock.wrapping_add(by), ..self }
    }

    /// The item before it.
    pub fn before(self) -> Self {
        Self { clock: self.clock.wrapping_sub(1), ..self }
    }

    fn hash(self) -> u64 {
        (self.clock ^ u64::from(self.client) << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

/// Guesses by item. Of fixed size: a later entry may displace an earlier one, which costs a guess, nothing else.
struct Links {
    slots: Vec<(Id, Id)>,
}

const NOBODY: Id = Id { client: u32::MAX, clock: u64::MAX };

impl Links {
    fn new(bits: u32) -> Self {
        Self { slots: vec![(NOBODY, NOBODY); 1 << bits] }
    }

    fn slot(&self, key: Id) -> usize {
        (key.hash() >> 40) as usize & (self.slots.len() - 1)
    }

    fn get(&self, key: Id) -> Option<Id> {
        let (owner, value) = self.slots[self.slot(key)];
        (owner == key).then_some(value)
    }

    fn set(&mut self, key: Id, value: Id) {
        let slot = self.slot(key);
        self.slots[slot] = (key, value);
    }
}

/// The most clients and strings that are remembered; further ones are spelled out each time.
const REMEMBERED: usize = 4096;

/// See the module.
pub struct State {
    /// The client ids in the order in which they appeared.
    pub clients: Vec<u64>,
    /// Numbers of clients, the most recently used first.
    recent: Vec<u32>,
    /// The next clock of each client.
    clocks: Vec<u64>,
    /// The item to the left of the last change.
    pub caret: Id,
    /// The item to the right of the last insertion.
    pub right: Id,
    /// The end of the last deletion.
    pub deleted: Id,
    /// The parent that was last named.
    pub parent: Id,
    /// The last items that are themselves shared types, the latest first.
    pub types: [Id; 2],
    /// Strings that may be referred to by number.
    pub strings: Vec<Box<[u8]>>,
    next: Links,
    previous: Links,
}

impl State {
    /// For a segment of about `updates` updates.
    pub fn new(updates: usize) -> Self {
        let bits = (updates * 2).max(1).ilog2().clamp(6, 14);
        Self {
            clients: Vec::new(),
            recent: Vec::new(),
            clocks: Vec::new(),
            caret: Id::default(),
            right: Id::default(),
            deleted: Id::default(),
            parent: Id::default(),
            types: [Id::default(); 2],
            strings: Vec::new(),
            next: Links::new(bits),
            previous: Links::new(bits),
        }
    }

    /// How recently the client was used (0: the last), if it is known.
    pub fn rank(&self, client: u64) -> Option<usize> {
        self.recent.iter().position(|&number| self.clients[number as usize] == client)
    }

    /// The number of the client at `rank`, which becomes the most recent.
    pub fn recall(&mut self, rank: usize) -> Option<u32> {
        let number = *self.recent.get(rank)?;
        self.recent[..=rank].rotate_right(1);
        Some(number)
    }

    /// A client that is not known yet. Its number.
    pub fn meet(&mut self, client: u64) -> u32 {
        if self.clients.len() == REMEMBERED {
            // The one that was not used for longest makes room.
            let Some(number) = self.recent.pop() else { return 0 };
            self.recent.insert(0, number);
            self.clients[number as usize] = client;
            self.clocks[number as usize] = 0;
            return number;
        }
        let number = self.clients.len() as u32;
        self.clients.push(client);
        self.clocks.push(0);
        self.recent.insert(0, number);
        number
    }

    /// The client id of a number.
    pub fn client(&self, number: u32) -> u64 {
        self.clients.get(number as usize).copied().unwrap_or(0)
    }

    /// The clock that the client should use next.
    pub fn clock(&self, client: u32) -> u64 {
        self.clocks.get(client as usize).copied().unwrap_or(0)
    }

    /// A clock that one of the client's items may be near to.
    pub fn nearby(&self, client: u32, guesses: &[Id]) -> u64 {
        guesses
            .iter()
            .find(|guess| guess.client == client)
            .map_or_else(|| self.clock(client), |guess| guess.clock)
    }

    /// Remember a string, if it is short and there is room.
    pub fn remember(&mut self, string: &[u8]) -> bool {
        let room = self.strings.len() < REMEMBERED;
        if room {
            self.strings.push(string.into());
        }
        room
    }

    /// The item to the right of `id`, as far as is known.
    pub fn right_of(&self, id: Id) -> Id {
        self.next.get(id).unwrap_or(id.after(1))
    }

    /// The item to the left of `id`, as far as is known.
    pub fn left_of(&self, id: Id) -> Id {
        self.previous.get(id).unwrap_or(id.before())
    }

    /// Structs of `length` clocks from `start` on, between `left` and `right`.
    pub fn inserted(&mut self, start: Id, length: u64, left: Option<Id>, right: Option<Id>) {
        let end = start.after(length.wrapping_sub(1));
        if let Some(left) = left {
            if left.after(1) != start {
                self.next.set(left, start);
                self.previous.set(start, left);
            } else if self.next.get(left).is_some() {
                self.next.set(left, start);
            }
        }
        if let Some(right) = right {
            self.next.set(end, right);
            if right.before() != end {
                self.previous.set(right, end);
            }
            self.right = right;
        }
        self.caret = end;
        self.pass(start.client, end.clock.wrapping_add(1));
    }

    /// The client has used the clocks before `clock`.
    pub fn pass(&mut self, client: u32, clock: u64) {
        if let Some(next) = self.clocks.get_mut(client as usize) {
            *next = clock;
        }
    }

    /// `length` clocks from `start` on are deleted.
    pub fn deleted(&mut self, start: Id, length: u64) {
        self.deleted = start.after(length);
        self.caret = self.left_of(start);
        self.right = start;
    }
}
