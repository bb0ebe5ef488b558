import { S3Client } from 'bun'
import { createKeyedSemaphore } from '../../net/limiters/keyed-semaphore.ts'
import { messageOf } from '../../os/thrown.ts'
import { withinDeadline } from '../../os/within.ts'
import { StoreUnavailable } from '../errors.ts'
import type { ObjectPlace, Objects } from './objects.ts'

/** Longest wait for an answer; a megabyte more takes a second more. */
const ANSWER_MS = 10_000
/** Requests at the same time. */
const MAX_REQUESTS = 32
const PAGE = 1000
/** A content is not longer (limits of a message). */
const MAX_MEGABYTES = 25

/** Client of a bucket. Nothing is sent yet. */
export function s3Client({ bucket, endpoint, region, accessKeyId, secretAccessKey }: Omit<ObjectPlace, 'prefix'>) {
  return new S3Client({
    bucket,
    accessKeyId,
    secretAccessKey,
    ...(region === '' ? {} : { region }),
    ...(endpoint === '' ? {} : { endpoint }),
  })
}

/** Place of a bucket → its objects, with keys below the prefix. Nothing is sent before the first call. */
export function s3Objects(place: ObjectPlace, answerMs = ANSWER_MS): Objects {
  const { bucket, prefix } = place
  const client = s3Client(place)
  const turns = createKeyedSemaphore()
  const inTurn = async <T>(work: () => Promise<T>) => {
    await turns.enter(bucket, MAX_REQUESTS)
    try {
      return await work()
    } finally {
      turns.leave(bucket)
    }
  }
  /** The wait for a turn counts: while the service does not answer, nothing waits for more than one deadline. */
  const ask = <T>(megabytes: number, request: () => Promise<T>) => {
    const deadlineMs = answerMs + megabytes * 1000
    const late = () => new Error(`no answer in ${Math.round(deadlineMs / 1000)} s`)
    let isLate = false
    const answer = inTurn(async () => (isLate ? null : withinDeadline(request(), deadlineMs, late)))
    return withinDeadline(answer, deadlineMs, late).catch((error) => {
      isLate = true
      throw new StoreUnavailable(`object storage ${bucket}: ${textOf(error)}`, { cause: error })
    })
  }
  return {
    put: async (key, bytes) => {
      await ask(Math.round(bytes.byteLength / 1e6), () => client.write(prefix + key, bytes))
    },
    get: (key) =>
      ask(MAX_MEGABYTES, () =>
        client
          .file(prefix + key)
          .bytes()
          .catch((error) => {
            if (codeOf(error) === 'NoSuchKey') return null
            throw error
          }),
      ),
    remove: async (key) => {
      await ask(0, () => client.delete(prefix + key))
    },
    list: async (folder, after) => {
      const request = { prefix: prefix + folder, startAfter: prefix + after, maxKeys: PAGE }
      const answer = await ask(0, () => client.list(request))
      return (answer?.contents ?? []).map(({ key, lastModified }) => ({
        key: key.slice(prefix.length),
        writtenAt: Date.parse(lastModified ?? ''),
      }))
    },
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null)

/** The code too: the message of a broken connection says nothing. */
const textOf = (error: unknown) => [codeOf(error), messageOf(error)].filter((part) => part !== null).join(': ')
