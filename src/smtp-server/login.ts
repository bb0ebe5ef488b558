import { clientOf } from '../net/ip.ts'
import type { Clock } from '../os/clock.ts'

/** Who says a wrong password hears so ever later, one after the other for each remote address. */
export interface LoginThrottle {
  /** Runs `attempt`; resolves or rejects as that does. `wrong` says of what it threw whether the password was wrong: then
   *  it rejects only after those before it and the time the address owes, or when `gone` is aborted. */
  attempt<T>(
    address: string,
    disconnected: AbortSignal,
    attempt: () => Promise<T>,
    isWrongPassword: (thrown: unknown) => boolean,
  ): Promise<T>
}

/** Ours; tests move the clock by them. */
export const LOGIN = {
  firstWaitMs: 1_000,
  longestWaitMs: 30_000,
  /** After so long without a wrong password the address begins anew. */
  forgetMs: 600_000,
  /** Wrong passwords until the connection is closed. */
  perConnection: 3,
}

/** Clock → a brake that remembers nobody. One address has one turn at a time, on all its connections together, so that
 *  those who wait for an answer guess no faster on a hundred connections than on one; the number of connections bounds who
 *  does not wait, and the keys are too long to be guessed at any speed. A right password never waits: behind one address
 *  there may be many programs, and one with an old key must not keep the others out. Nor is it a pardon: whoever has an
 *  account of his own would use it to begin anew. */
export function createLoginThrottle(clock: Clock): LoginThrottle {
  const clients = new Map<string, Client>()

  const clientAt = (address: string): Client => {
    forgetOld()
    const key = clientOf(address)
    const known = clients.get(key)
    if (known !== undefined) return known
    const client: Client = { failures: 0, lastAt: 0, notBefore: 0, waiting: 0, turn: Promise.resolve() }
    clients.set(key, client)
    return client
  }

  /** Whoever has nobody waiting and no recent failure. A Map keeps its order, a failure moves to the end: mostly the
   *  first is looked at and stays. */
  const forgetOld = () => {
    const before = clock.now() - LOGIN.forgetMs
    for (const [key, client] of clients) {
      if (client.waiting > 0 || client.lastAt > before) break
      clients.delete(key)
    }
  }

  const backoffDelay = async (address: string, disconnected: AbortSignal) => {
    const client = clientAt(address)
    const before = client.turn
    let over!: () => void
    client.turn = new Promise((resolve) => (over = resolve))
    client.waiting++
    try {
      await before
      if (client.lastAt <= clock.now() - LOGIN.forgetMs) client.failures = 0
      const waitMs = client.notBefore - clock.now()
      if (waitMs > 0) await clock.sleep(waitMs, disconnected)
    } finally {
      client.failures++
      client.lastAt = clock.now()
      client.notBefore = client.lastAt + Math.min(LOGIN.firstWaitMs * 2 ** (client.failures - 1), LOGIN.longestWaitMs)
      const key = clientOf(address)
      clients.delete(key)
      clients.set(key, client)
      client.waiting--
      over()
    }
  }

  return {
    attempt: async (address, disconnected, attempt, isWrongPassword) => {
      try {
        return await attempt()
      } catch (thrown) {
        if (isWrongPassword(thrown)) await backoffDelay(address, disconnected)
        throw thrown
      }
    },
  }
}

interface Client {
  failures: number
  lastAt: number
  notBefore: number
  waiting: number
  /** Resolves when the last of those who wait has had its turn. */
  turn: Promise<void>
}
