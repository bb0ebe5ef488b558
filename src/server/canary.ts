import { readFileSync } from 'node:fs'
import { type Config, readSecretFile } from '../config/load.ts'
import { parseMailbox } from '../mail/address.ts'
import { type CanaryWords, createCanaryWords } from '../mail/canary-address.ts'
import { type Canaries, createCanaries } from '../operating/canary/canary.ts'
import type { MailboxAnswer, MailboxJob } from '../operating/canary/job.ts'
import { createSeedMailboxes, lookInto, type SeedMailboxes } from '../operating/canary/mailboxes.ts'
import type { MailboxProbe } from '../operating/health/canary.ts'
import type { Metrics } from '../operating/metrics/metrics.ts'
import type { Clock } from '../os/clock.ts'
import type { MintId } from '../os/ids.ts'
import type { Log } from '../os/log.ts'
import type { Random } from '../os/random.ts'
import { createThreadPool, type PoolEvent, type ThreadPool, threadRunner } from '../os/thread-pool.ts'
import type { UserMail } from '../sending/submission/user-mail.ts'
import type { Store } from '../storage/store.ts'
import { startMailboxThread } from '../threads.ts'

/** Canary mails of the configuration. */
export interface OpenCanaries extends Canaries {
  /** The words in addresses and subjects, with the secret of the store. */
  words(): Promise<CanaryWords>
  /** Ends the thread that looks into mailboxes. */
  stop(): Promise<void>
}

interface Deps {
  store: Store
  userMail: UserMail
  random: Random
  mintId: MintId
  publicUrl: () => string
  log: Log
  /** Looks into mailboxes; absent: this process only sends. */
  looks?: { clock: Clock; metrics: Metrics }
}

/** The address that canaries come from; '' = none. */
export const canarySender = ({ canary, users }: Config) => canary.from || users.mailFrom

/** Null if canaries are off. */
export function openCanaries(config: Config, deps: Deps): OpenCanaries | null {
  const { store, random, log } = deps
  const { everyMinutes, missingAfterMinutes, mailboxes } = config.canary
  if (everyMinutes === 0) return null
  let known: Promise<CanaryWords> | null = null
  const words = () => {
    known ??= store.secret('canary', random.bytes(32)).then(createCanaryWords)
    return known
  }
  const seeds = openMailboxes(config, { store, words, log }, deps.looks)
  const senderDomain = parseMailbox(canarySender(config))?.domain ?? ''
  const canaries = createCanaries({
    store,
    settings: { everyMs: everyMinutes * MINUTE_MS, missingAfterMs: missingAfterMinutes * MINUTE_MS, mailboxes },
    words,
    ownHost: () => store.snapshot.domainByName(senderDomain)?.returnPathHost ?? null,
    userMail: deps.userMail,
    publicUrl: deps.publicUrl,
    mintId: deps.mintId,
    log,
    mailboxes: seeds,
  })
  return {
    ...canaries,
    // What a node saw before another one took over is old.
    latest: () => (store.leases.leads() ? canaries.latest() : []),
    words,
    stop: async () => seeds?.stop(),
  }
}

/** Null without mailboxes, or if this process does not look into them. */
function openMailboxes(
  { canary }: Config,
  deps: { store: Store; words: () => Promise<CanaryWords>; log: Log },
  looks: Deps['looks'],
): (SeedMailboxes & { stop(): Promise<void> }) | null {
  if (looks === undefined || canary.mailboxes.length === 0) return null
  const { clock, metrics } = looks
  const pool = openMailboxPool({ clock, log: deps.log, onEvent: metrics.pools.onEvent })
  metrics.pools.add('mailboxes', pool.state)
  const seeds = createSeedMailboxes({
    ...deps,
    mailboxes: canary.mailboxes,
    lateAfterMs: lateAfterMs(canary),
    ...FILES,
    run: pool.run,
  })
  return { ...seeds, stop: pool.stop }
}

/** The thread that looks into mailboxes, because it parses what their servers send. It starts with its first job. */
export function openMailboxPool(
  deps: { clock: Clock; log: Log; onEvent?: (event: PoolEvent) => void },
  { looksAtOnce = LOOKS_AT_ONCE, computeMs = COMPUTE_MS } = {},
): ThreadPool<MailboxJob, MailboxAnswer> {
  return createThreadPool<MailboxJob, MailboxAnswer>({
    ...deps,
    name: 'mailboxes',
    start: threadRunner(startMailboxThread),
    count: 1,
    perRunner: looksAtOnce,
    computeMs,
    totalMs: TOTAL_MS,
    idleMs: IDLE_MS,
    ownerOf: ({ host }) => host,
    describe: ({ host }) => ({ imap_host: host }),
  })
}

/** Tries login and folders of every configured mailbox, in at most `timeoutMs` → for each, why it cannot be read, or null, and
 *  its folder of spam. */
export async function probeMailboxes(
  { canary }: Config,
  { timeoutMs = PROBE_MS, ...deps }: { clock: Clock; log: Log; timeoutMs?: number },
): Promise<MailboxProbe[]> {
  const pool = openMailboxPool(deps, { looksAtOnce: canary.mailboxes.length })
  try {
    return await Promise.all(
      canary.mailboxes.map(async (mailbox) => {
        const how = { words: [], timeoutMs }
        const { error, spamFolder } = await lookInto(mailbox, how, { ...FILES, run: pool.run })
        return { name: mailbox.name, fault: error, spamFolder }
      }),
    )
  } finally {
    await pool.stop()
  }
}

const FILES = { readSecret: readSecretFile, readFile: (path: string) => readFileSync(path, 'utf8') }

export const lateAfterMs = ({ lateAfterMinutes }: Config['canary']) => lateAfterMinutes * MINUTE_MS

const MINUTE_MS = 60_000
const LOOKS_AT_ONCE = 4
/** For one answer of a server, which is a few hundred bytes. */
const COMPUTE_MS = 3_000
/** More than a look may take by itself. */
const TOTAL_MS = 45_000
const IDLE_MS = 30_000
/** Less than a health check may take. */
const PROBE_MS = 4_500
