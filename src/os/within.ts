import type { Clock } from './clock.ts'

/** Waits for a promise at most `ms` → its value, or null after this time. Rejects as the promise does. Leaves no timer
 *  behind. */
export async function within<T>(clock: Pick<Clock, 'sleep'>, ms: number, promise: Promise<T>): Promise<T | null> {
  const end = new AbortController()
  try {
    return await Promise.race([promise, clock.sleep(ms, end.signal).then(() => null)])
  } finally {
    end.abort()
  }
}

/** Waits for a promise at most `ms` → its value. Rejects as the promise does, and with `late()` after this time. Leaves no
 *  timer behind. */
export async function withinDeadline<T>(promise: Promise<T>, ms: number, late: () => Error): Promise<T> {
  const deadline = Promise.withResolvers<never>()
  const timer = setTimeout(() => deadline.reject(late()), ms)
  try {
    return await Promise.race([promise, deadline.promise])
  } finally {
    clearTimeout(timer)
  }
}
