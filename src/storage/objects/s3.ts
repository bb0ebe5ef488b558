import { S3Client } from 'bun'
import { messageOf } from '../../os/thrown.ts'
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
  const turn = createTurns(MAX_REQUESTS)
  /** The wait for a turn counts: while the service does not answer, nothing waits for more than one deadline. */
  const ask = <T>(megabytes: number, request: () => Promise<T>) => {
    const deadlineMs = answerMs + megabytes * 1000
    let isLate = false
    const answer = turn(async () => (isLate ? null : withinDeadline(request(), deadlineMs)))
    return withinDeadline(answer, deadlineMs).catch((error) => {
      isLate = true
      if (codeOf(error) === 'NoSuchKey') return null
      throw new StoreUnavailable(`object storage ${bucket}: ${textOf(error)}`, { cause: error })
    })
  }
  return {
    put: async (key, bytes) => {
      await ask(Math.round(bytes.byteLength / 1e6), () => client.write(prefix + key, bytes))
    },
    get: (key) => ask(MAX_MEGABYTES, () => client.file(prefix + key).bytes()),
    remove: async (key) => {
      await ask(0, () => client.delete(prefix + key))
    },
    list: async (after) => {
      const answer = await ask(0, () => client.list({ prefix, startAfter: prefix + after, maxKeys: PAGE }))
      return (answer?.contents ?? []).map(({ key, lastModified }) => ({
        key: key.slice(prefix.length),
        writtenAt: Date.parse(lastModified ?? ''),
      }))
    },
  }
}

/** At most `most` of the given works at the same time; the others wait in their order. */
function createTurns(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = []
  let running = 0
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}

async function withinDeadline<T>(answer: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`no answer in ${Math.round(ms / 1000)} s`)), ms)
  try {
    return await Promise.race([answer, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

const codeOf = (error: unknown) => (error instanceof Error && 'code' in error ? error.code : null)

/** The code too: the message of a broken connection says nothing. */
const textOf = (error: unknown) => [codeOf(error), messageOf(error)].filter((part) => part !== null).join(': ')
