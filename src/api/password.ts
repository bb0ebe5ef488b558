/** The operator's password: argon2id with 19 MiB, two passes, one lane (OWASP's first choice), off the main thread.
 *  One at a time, so that parallel attempts do not take memory and CPU from mail. */
const COST = { algorithm: 'argon2id', memoryCost: 19_456, timeCost: 2 } as const

export function hashPassword(password: string): Promise<string> {
  return inTurn(() => Bun.password.hash(password, COST))
}

/** Password and stored hash (null: none set) → true if it matches. Takes the same time if none is set. */
export function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  return inTurn(async () => {
    unmatchedReason ??= await Bun.password.hash(crypto.randomUUID(), COST)
    const isRight = await Bun.password.verify(password, hash ?? unmatchedReason)
    return isRight && hash !== null
  })
}

let unmatchedReason: string | undefined
let last: Promise<unknown> = Promise.resolve()

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const turn = last.then(work, work)
  last = turn.catch(() => {})
  return turn
}
