import { Refusal } from '../../model/refusal.ts'

/** Hashing of the operator's password: argon2id with 19 MiB, two passes and one lane (OWASP Password Storage Cheat
 *  Sheet), outside the main thread. Hashes run one at a time, so that parallel sign-in attempts leave memory and CPU
 *  for mail. Those of users who are signed in or have a link, and of browsers in which the user has signed in before, come
 *  first; of the others a limited number waits. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

/** Password → its salted argon2id hash in PHC format, for verifyPassword. `isFirst`: as there. */
export function hashPassword(password: string, isFirst = false): Promise<string> {
  return inTurn(() => Bun.password.hash(password, COST), isFirst)
}

/** Password and stored hash → true if they match. Null means that no password is set: returns false, and takes the same
 *  time, so that a client cannot measure whether a password is set. `isFirst`: before others that wait. Rejects if `hash`
 *  is not an argon2id hash, and with `unavailable` if too many wait. */
export function verifyPassword(password: string, hash: string | null, isFirst = false): Promise<boolean> {
  return inTurn(async () => {
    dummyHash ??= await Bun.password.hash(crypto.randomUUID(), COST)
    const isRight = await Bun.password.verify(password, hash ?? dummyHash)
    return isRight && hash !== null
  }, isFirst)
}

let dummyHash: string | undefined
let isBusy = false
const first: (() => void)[] = []
const others: (() => void)[] = []
/** Ten seconds of work. */
const MOST_WAITING = 200

async function inTurn<T>(work: () => Promise<T>, isFirst = false): Promise<T> {
  if (isBusy) {
    const waiting = isFirst ? first : others
    if (waiting.length >= MOST_WAITING)
      throw new Refusal('unavailable', 'Too many sign-ins at once. Try again in a few seconds.', {
        retryAfterSeconds: 5,
      })
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
  isBusy = true
  try {
    return await work()
  } finally {
    const next = first.shift() ?? others.shift()
    if (next === undefined) isBusy = false
    else next()
  }
}
