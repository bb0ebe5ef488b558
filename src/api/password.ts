/** Hashing of the operator's password: argon2id with 19 MiB, two passes and one lane (OWASP Password Storage Cheat
 *  Sheet), outside the main thread. Hashes run one at a time, so that parallel sign-in attempts leave memory and CPU
 *  for mail. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Password → its salted argon2id hash in PHC format, for verifyPassword. */
export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, COST))
}

/** Password and stored hash → true if they match. Null means that no password is set: returns false, and takes the same
 *  time, so that a client cannot measure whether a password is set. Rejects if `hash` is not an argon2id hash. */
export function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  return inTurn(async () => {
    dummyHash ??= await Bun.password.hash(crypto.randomUUID(), COST)
    const isRight = await Bun.password.verify(password, hash ?? dummyHash)
    return isRight && hash !== null
  })
}

let dummyHash: string | undefined
let last: Promise<unknown> = Promise.resolve()

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = last.then(work, work)
  last = turn.catch(() => {})
  return turn
}
