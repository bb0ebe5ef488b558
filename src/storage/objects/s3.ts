import { createKeyedSemaphore } from '../../net/limiters/keyed-semaphore.ts'
import { systemClock } from '../../os/clock.ts'
import { errorCode, messageOf } from '../../os/thrown.ts'
import { withinDeadline } from '../../os/within.ts'
import { StoreUnavailable } from '../errors.ts'
import type { ObjectPlace, Objects } from './objects.ts'
import { listObjects } from './s3-list.ts'
import { discard, readBeginning, S3Failure, s3 } from './s3-requests.ts'

/** Longest wait for an answer; a megabyte more takes a second more. */
const ANSWER_MS = 10_000
/** Requests at the same time. */
const MAX_REQUESTS = 32

/** Place of a bucket → its objects, with keys below the prefix. Nothing is sent before the first call. */
export function s3Objects(place: ObjectPlace, answerMs = ANSWER_MS): Objects {
  const { bucket, prefix } = place
  const service = s3(place)
  const turns = createKeyedSemaphore()
  const inTurn = async <T>(work: () => Promise<T>) => {
    await turns.enter(bucket, MAX_REQUESTS)
    try {
      return await work()
    } finally {
      turns.leave(bucket)
    }
  }
  /** The wait for a turn counts: while the service does not answer, nothing waits for more than one deadline, and nothing is
   *  sent shortly before it. */
  const ask = async <T>(bytes: number, request: (signal: AbortSignal) => Promise<T>) => {
    const deadlineMs = answerMs + Math.round(bytes / 1e6) * 1000
    const late = () => new Error(`no answer in ${Math.round(deadlineMs / 1000)} s`)
    const sendBefore = systemClock.steady.now() + deadlineMs * 0.9
    const end = new AbortController()
    const answer = inTurn(async () => {
      if (systemClock.steady.now() >= sendBefore) throw late()
      return request(end.signal)
    })
    try {
      return await withinDeadline(answer, deadlineMs, late)
    } catch (error) {
      throw new StoreUnavailable(`object storage ${bucket}: ${textOf(error)}`, { cause: error })
    } finally {
      end.abort()
    }
  }
  return {
    put: (key, bytes) =>
      ask(bytes.byteLength, async (signal) => {
        // Never shared memory: contents come from SQLite, PostgreSQL and the wire.
        const body = bytes as Uint8Array<ArrayBuffer>
        await discard(await service.ask({ method: 'PUT', key: prefix + key, body, signal }))
      }),
    get: (key, mostBytes) =>
      ask(mostBytes, async (signal) => {
        const found = await service.ask({ method: 'GET', key: prefix + key, signal }).catch((error) => {
          if (error instanceof S3Failure && error.code === 'NoSuchKey') return null
          throw error
        })
        return found === null ? null : readBeginning(found, mostBytes)
      }),
    remove: (key) =>
      ask(0, async (signal) => discard(await service.ask({ method: 'DELETE', key: prefix + key, signal }))),
    list: async (folder, after) => {
      const { objects } = await ask(0, (signal) =>
        listObjects(service, { folder: prefix + folder, after: prefix + after, signal }),
      )
      return objects.map(({ key, writtenAt }) => ({ key: key.slice(prefix.length), writtenAt }))
    },
  }
}

/** Of a broken connection, the code: the message contains the URL. */
const textOf = (error: unknown): string => (error instanceof S3Failure ? null : errorCode(error)) ?? messageOf(error)
