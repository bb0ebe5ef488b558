import { join } from 'node:path'
import { limitIn } from '../../os/descriptors.ts'
import { fileText } from '../../os/file-text.ts'
import { largestMailUnder, leastLimitFor } from '../../os/memory.ts'
import { memoryLimit } from '../../os/memory-limit.ts'
import { fail, pass, skip, type Verdict, warn } from './check.ts'
import type { CheckDeps, Installation } from './deps.ts'

/** Connections in and out, database files and endpoints: a busy server needs thousands. */
const ENOUGH_FILES = 4096
const FEW_FILES = 512
/** A busy server takes 100 to 300 MB. */
const ENOUGH_BYTES = 256_000_000
const FEW_BYTES = 96_000_000

/** Checks the limit of open files and sockets: of the running server, else of this process. */
export function checkOpenFiles({ server }: Installation, { proc }: CheckDeps): Verdict {
  const text = fileText(join(proc, server === null ? 'self' : String(server.pid), 'limits'))
  if (text === '') return skip('the kernel does not report it')
  // The runtime raises its soft limit to the hard one when it starts.
  const hard = /^Max open files\s+\d+\s+(\d+|unlimited)/m.exec(text)?.[1] ?? 'unlimited'
  const limit = server === null ? (hard === 'unlimited' ? Number.POSITIVE_INFINITY : Number(hard)) : limitIn(text)
  const message = limit === Number.POSITIVE_INFINITY ? 'no limit' : String(limit)
  if (limit >= ENOUGH_FILES) return pass(message)
  const advice = 'With systemd, set LimitNOFILE=65536 in the unit (the unit from `postrider init` includes it).'
  return limit < FEW_FILES ? fail(message, advice) : warn(message, advice)
}

/** Checks free memory, and whether the process's limit is enough for the largest mail. */
export function checkMemory(installation: Installation, deps: CheckDeps): Verdict {
  const free = checkFree(installation, deps)
  if (free.status === 'fail' || free.status === 'warn') return free
  const { server, memoryBytes, messageBytes } = installation
  const pid = server === null ? 'self' : String(server.pid)
  const limitBytes = memoryBytes || memoryLimit({ ...deps, pid })
  if (limitBytes === Number.POSITIVE_INFINITY) return free
  const message = `${free.message}, at most ${megabytes(limitBytes)} for the server`
  if (limitBytes >= leastLimitFor(messageBytes)) return { ...free, message }
  const least = megabytes(leastLimitFor(messageBytes))
  const instead = Math.max(1, Math.floor(largestMailUnder(limitBytes) / 1e6)) * 1e6
  return warn(
    message,
    `With the configured limits.message_bytes, the server may need ${least}; it rejects messages that do not fit (452, 503). Raise the memory limit, or set limits.message_bytes to ${instead}.`,
  )
}

function checkFree({ server }: Installation, { proc }: CheckDeps): Verdict {
  const kibibytes = /^MemAvailable:\s+(\d+) kB/m.exec(fileText(join(proc, 'meminfo')))?.[1]
  if (kibibytes === undefined) return skip('the kernel does not report it')
  const bytes = Number(kibibytes) * 1024
  const message = `${megabytes(bytes)} available`
  if (bytes >= ENOUGH_BYTES || (server !== null && bytes >= FEW_BYTES)) return pass(message)
  const advice = 'A busy server needs 100 to 300 MB. Stop other programs, add swap, or use a larger machine.'
  return bytes < FEW_BYTES ? fail(message, advice) : warn(message, advice)
}

const megabytes = (bytes: number) => `${Math.round(bytes / 1_000_000)} MB`
