import { clientOf } from '../../net/ip.ts'
import type { Clock } from '../../os/clock.ts'

/** Delays failed logins, longer after each failure, one at a time per remote address. */
export interface LoginThrottle {
  /** Runs `attempt` and settles as it does. When `isWrongPassword` says that the thrown value means a wrong password,
   *  it rejects only after earlier failures from the address and the delay, or when `disconnected` aborts. */
  attempt<T>(
    address: string,
    disconnected: AbortSignal,
    attempt: () => Promise<T>,
    isWrongPassword: (thrown: unknown) => boolean,
  ): Promise<T>
}

/** Our own values; tests advance the clock by them. */
export const LOGIN = {
  firstWaitMs: 1_000,
  longestWaitMs: 30_000,
  /** After this time without a failure the delay starts over. */
  resetMs: 600_000,
  /** Failed logins before a connection is closed. */
  perConnection: 3,
}

/** Clock → an empty throttle. Failed logins from one address wait in one queue over all its connections, so a hundred
 *  connections guess no faster than one. The connection limit bounds clients that do not wait, and keys are too long to
 *  guess.
 *  A correct password never waits: one program with an old key must not delay others behind the same address. A correct
 *  password does not reset the delay either, or an attacker with an account could reset it. */
export function createLoginThrottle(clock: Clock): LoginThrottle {
  const clients = new Map<string, Client>()

  const clientAt = (address: string): Client => {
    deleteExpired()
    const key = clientOf(address)
    const known = clients.get(key)
    if (known !== undefined) return known
    const client: Client = { failures: 0, lastAt: 0, notBefore: 0, waiting: 0, turn: Promise.resolve() }
    clients.set(key, client)
    return client
  }

  /** Removes clients without waiters and without a recent failure. A Map keeps insertion order and a failure moves its
   *  client to the end, so this usually inspects one entry. */
  const deleteExpired = () => {
    const before = clock.now() - LOGIN.resetMs
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
      if (client.lastAt <= clock.now() - LOGIN.resetMs) client.failures = 0
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
  /** Resolves when the last waiter has had its turn. */
  turn: Promise<void>
}
