import type { Transform } from 'node:stream'
import type { ImapFlow } from 'imapflow'
import type { MailboxAnswer, MailboxFound, MailboxJob } from './job.ts'

/** Looks into a mailbox by IMAP (RFC 9051), or removes mails from it. Runs in a thread of its own, because the library
 *  parses what the server sends. Never rejects for what the server does. */
export async function lookInto(job: MailboxJob): Promise<MailboxAnswer> {
  const { ImapFlow } = await import('imapflow')
  const client = new ImapFlow(optionsOf(job))
  const found: MailboxFound[] = []
  let spamFolder: string | null = null
  let fault: string | null = null
  const fail = (reason: string) => {
    fault ??= reason
    client.close()
  }
  client.on('error', (error: unknown) => fail(reasonOf(error)))
  const timer = setTimeout(() => fail(`no result after ${job.timeoutMs / 1000} s`), job.timeoutMs)
  const meter = limitAnswers(client, () => fail('the server sends too much'))
  try {
    await client.connect()
    spamFolder = job.spamFolder ?? (await junkOf(client))
    // The inbox first: a mail in both counts as arrived.
    for (const [path, place] of [[job.folder, 'inbox'] as const, [spamFolder, 'spam'] as const]) {
      if (path === null) continue
      await open(client, path, job)
      for (const word of job.words) found.push(...(await search(client, job, word, place)))
    }
    await client.logout()
    return { found, spamFolder, error: fault }
  } catch (error) {
    return { found, spamFolder, error: fault ?? reasonOf(error) }
  } finally {
    clearTimeout(timer)
    clearInterval(meter)
    client.close()
  }
}

/** Calls `onExcess` when the server has sent too many answers, numbers in ranges, or bytes → a timer to clear. The library
 *  turns to no timer while it takes a large chunk apart, so its stream of answers has to count; the timer sees what makes
 *  no answer. */
function limitAnswers(client: ImapFlow, onExcess: () => void): NodeJS.Timeout {
  const { streamer } = client as unknown as { streamer: Transform } // not declared; the build checks the version
  const push = streamer.push.bind(streamer)
  let answers = 0
  const isExcess = () => answers > MOST_ANSWERS || client.stats().received > MOST_BYTES
  streamer.push = (answer) => {
    answers += 1 + numbersIn(answer)
    if (!isExcess()) return push(answer)
    onExcess()
    return false
  }
  return setInterval(() => isExcess() && onExcess(), METER_MS)
}

/** Count of the numbers in the ranges of a response. The library would list every number of a range: `1:4294967295` has
 *  forty bytes on the wire and would take 400 MB in memory. RFC 9051 §7.3.4, RFC 7162 §3.2.10 */
function numbersIn(answer: { payload: Buffer; literals: Buffer[] } | null): number {
  if (answer === null) return 0 // the end
  const text = [answer.payload, ...answer.literals].map((bytes) => bytes.toString('latin1')).join(' ')
  if (!/ESEARCH|VANISHED/i.test(text)) return 0
  return text.split(/[\s,()"]/).reduce((sum, range) => {
    const [first, second] = range.split(':', 2).map(Number)
    const size = Math.abs((first ?? 0) - (second ?? Number.NaN))
    return Number.isFinite(size) ? sum + size : sum
  }, 0)
}

function optionsOf({ host, port, tls, username, password, ca, timeoutMs }: MailboxJob) {
  return {
    host,
    port,
    secure: tls === 'implicit',
    doSTARTTLS: tls === 'starttls',
    auth: { user: username, pass: password },
    tls: ca === null ? {} : { ca },
    logger: false as const,
    disableAutoIdle: true,
    disableAutoEnable: true,
    disableCompression: true,
    connectionTimeout: timeoutMs / 2,
    greetingTimeout: timeoutMs / 2,
    socketTimeout: timeoutMs,
    maxLineLength: MOST_OF_ANSWER,
    maxLiteralSize: MOST_OF_ANSWER,
    maxResponseSize: 2 * MOST_OF_ANSWER,
  }
}

const junkOf = async (client: ImapFlow): Promise<string | null> =>
  (await client.list()).find(({ specialUse }) => specialUse === '\\Junk')?.path ?? null

async function open(client: ImapFlow, path: string, { isRemoval }: MailboxJob): Promise<void> {
  await client.mailboxOpen(path, { readOnly: !isRemoval }).catch((error) => {
    throw new Error(`folder ${path}: ${reasonOf(error)}`)
  })
}

async function search(
  client: ImapFlow,
  { isRemoval }: MailboxJob,
  word: string,
  place: MailboxFound['place'],
): Promise<MailboxFound[]> {
  const uids = (await client.search({ subject: word }, { uid: true })) || []
  const range = uids.slice(0, MOST_COPIES).join(',')
  if (range === '') return []
  if (isRemoval) {
    await client.messageDelete(range, { uid: true })
    return [{ word, place, at: null }]
  }
  const times: number[] = []
  for await (const { internalDate } of client.fetch(range, { internalDate: true }, { uid: true })) {
    const at = internalDate === undefined ? Number.NaN : new Date(internalDate).getTime()
    if (Number.isFinite(at)) times.push(at)
  }
  return [{ word, place, at: times.length === 0 ? null : Math.min(...times) }]
}

/** In our words, or those of the server, which are for the operator only. */
function reasonOf(error: unknown): string {
  const { code, authenticationFailed, responseText, message } = error as Error & {
    code?: string
    authenticationFailed?: boolean
    responseText?: string
  }
  const said = (responseText ?? message ?? String(error)).slice(0, MOST_REASON)
  if (authenticationFailed) return `login failed: ${said}`
  return code === undefined ? said : `${said} (${String(code).slice(0, MOST_REASON)})`
}

const METER_MS = 50
/** A list of thousands of folders has less. */
const MOST_BYTES = 2 ** 22
const MOST_ANSWERS = 20_000
const MOST_OF_ANSWER = 65_536
/** Mails with the same word. */
const MOST_COPIES = 10
const MOST_REASON = 200
