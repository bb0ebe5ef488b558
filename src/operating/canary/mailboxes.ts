import type { CanaryWords } from '../../mail/canary-address.ts'
import { arrivalOf, CANARY_SOUGHT_MS, type Canary, MOST_ON_THE_WAY } from '../../model/canary.ts'
import type { Log } from '../../os/log.ts'
import type { Store } from '../../storage/store.ts'
import type { MailboxAnswer, MailboxFound, MailboxJob } from './job.ts'

/** A configured mailbox elsewhere; config/canary-mailboxes.ts explains the fields. */
export interface SeedMailbox extends Omit<MailboxJob, 'password' | 'ca' | 'words' | 'isRemoval' | 'timeoutMs'> {
  name: string
  address: string
  passwordFile: string
  caFile: string | null
}

/** Looks for canary mails in mailboxes elsewhere. */
export interface SeedMailboxes {
  /** Looks into a mailbox if a mail is on its way and a look is due. `sent`: the last mails to it, the last one first. Nothing
   *  for a name that is not in the config. */
  look(name: string, sent: readonly Canary[], now: number): Promise<void>
}

export interface SeedMailboxesDeps {
  store: Pick<Store, 'canaries'>
  mailboxes: readonly SeedMailbox[]
  lateAfterMs: number
  words: () => Promise<CanaryWords>
  /** Runs a job in a thread. Rejects if the thread did not finish it. */
  run: (job: MailboxJob) => Promise<MailboxAnswer>
  /** Reads a file with a password. Throws if it cannot be read, or if everybody can. */
  readSecret: (path: string) => string
  readFile: (path: string) => string
  log: Log
}

/** The result is stored before the mail is deleted. Mail that is missing is looked for together with the next one, so that
 *  it is deleted if it arrives after all. */
export function createSeedMailboxes(deps: SeedMailboxesDeps): SeedMailboxes {
  const lookedAt = new Map<string, number>()
  const isDue = (name: string, sought: readonly Canary[], now: number) => {
    const newest = sought.find(({ result }) => result === 'pending')
    return newest !== undefined && now - (lookedAt.get(name) ?? 0) >= Math.max(LEAST_MS, (now - newest.sentAt) / 5)
  }
  return {
    look: async (name, sent, now) => {
      const mailbox = deps.mailboxes.find((each) => each.name === name)
      const sought = sent.filter(({ arrivedAt, sentAt }) => arrivedAt === null && now - sentAt < CANARY_SOUGHT_MS)
      if (mailbox === undefined || !isDue(name, sought, now)) return
      lookedAt.set(name, now)
      await lookFor(sought.slice(0, MOST_WORDS), mailbox, now, deps)
    },
  }
}

async function lookFor(canaries: readonly Canary[], mailbox: SeedMailbox, now: number, deps: SeedMailboxesDeps) {
  const { encode } = await deps.words()
  const byWord = new Map(canaries.map((canary) => [encode(canary.id), canary]))
  const { found, error } = await lookInto(mailbox, { words: [...byWord.keys()] }, deps)
  const recorded: string[] = []
  // The inbox comes first; a copy in spam changes nothing.
  for (const each of found) {
    const canary = byWord.get(each.word)
    if (canary === undefined || recorded.includes(each.word)) continue
    await deps.store.canaries.record(canary.id, arrivalOf(canary, arrivalIn(each, now), deps.lateAfterMs))
    recorded.push(each.word)
  }
  await noteError(
    canaries.filter(({ id }) => !recorded.includes(encode(id))),
    error,
    deps,
  )
  if (recorded.length === 0) return
  const removed = await lookInto(mailbox, { words: recorded, isRemoval: true }, deps)
  if (removed.error !== null) {
    deps.log.warn('canary mail not deleted', { mailbox: mailbox.name, reason: removed.error })
  }
}

/** The clock of the other server may be wrong: a mail cannot arrive after it was found. */
const arrivalIn = ({ place, at }: MailboxFound, now: number) => ({ place, at: Math.min(now, at ?? now), fault: null })

/** Why mails on their way could not be looked for; null ends what was noted before. */
async function noteError(canaries: readonly Canary[], error: string | null, { store }: SeedMailboxesDeps) {
  for (const { id, result, detail } of canaries) {
    if (result !== 'pending' || detail === error) continue
    await store.canaries.record(id, { result, arrivedAt: null, detail: error })
  }
}

/** Looks into a mailbox for mails with these words, or deletes them. Without words it tries login and folders. Never
 *  rejects. */
export async function lookInto(
  { passwordFile, caFile, name: _, address: __, ...rest }: SeedMailbox,
  {
    words,
    isRemoval = false,
    timeoutMs = LOOK_MS,
  }: { words: readonly string[]; isRemoval?: boolean; timeoutMs?: number },
  deps: Pick<SeedMailboxesDeps, 'run' | 'readSecret' | 'readFile'>,
): Promise<MailboxAnswer> {
  try {
    const password = deps.readSecret(passwordFile).trim()
    if (password === '') throw new Error('the password file is empty')
    const ca = caFile === null ? null : deps.readFile(caFile)
    return checked(await deps.run({ ...rest, password, ca, words, isRemoval, timeoutMs }), words)
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
    return { found: [], spamFolder: null, error: reason }
  }
}

const checked = ({ found, error, ...rest }: MailboxAnswer, words: readonly string[]): MailboxAnswer => ({
  ...rest,
  found: found.filter(({ word }) => words.includes(word)),
  error: error === null ? null : error.slice(0, MOST_ERROR),
})

const LOOK_MS = 30_000
const LEAST_MS = 20_000
/** The oldest of more are given up. */
const MOST_WORDS = 2 * MOST_ON_THE_WAY
const MOST_ERROR = 500
