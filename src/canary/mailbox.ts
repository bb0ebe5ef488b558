import type { ImapFlow } from 'imapflow'
import type { MailboxAnswer, MailboxFound, MailboxJob } from './job.ts'

/** Looks into a mailbox by IMAP (RFC 9051), or removes mails from it. Runs in a thread of its own, because the library parses what
 *  the server sends. Never rejects for what the server does. */
export async function lookInto(job: MailboxJob): Promise<MailboxAnswer> {
  const { ImapFlow } = await import('./imap-library.ts')
  const client = new ImapFlow(optionsOf(job))
  const found: MailboxFound[] = []
  let fault: string | null = null
  const fail = (reason: string) => {
    fault ??= reason
    client.close()
  }
  client.on('error', (error: unknown) => fail(reasonOf(error)))
  const timer = setTimeout(() => fail(`no result after ${LOOK_MS / 1000} s`), LOOK_MS)
  const meter = setInterval(() => {
    if (client.stats().received > MOST_BYTES) fail('the server sends too much')
  }, METER_MS)
  try {
    await client.connect()
    for (const [path, place] of await foldersOf(job, client)) {
      await client.mailboxOpen(path, { readOnly: !job.isRemoval })
      for (const word of job.words) found.push(...(await search(client, job, word, place)))
    }
    await client.logout()
    return { found, error: fault }
  } catch (error) {
    return { found, error: fault ?? reasonOf(error) }
  } finally {
    clearTimeout(timer)
    clearInterval(meter)
    client.close()
  }
}

function optionsOf({ host, port, tls, username, password, ca }: MailboxJob) {
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
    connectionTimeout: STEP_MS,
    greetingTimeout: STEP_MS,
    socketTimeout: STEP_MS,
    maxLineLength: MOST_OF_ANSWER,
    maxLiteralSize: MOST_OF_ANSWER,
    maxResponseSize: 2 * MOST_OF_ANSWER,
  }
}

/** The inbox first: a mail in both counts as arrived. */
async function foldersOf({ folder, spamFolder }: MailboxJob, client: ImapFlow): Promise<[string, 'inbox' | 'spam'][]> {
  const junk = spamFolder ?? (await client.list()).find(({ specialUse }) => specialUse === '\\Junk')?.path
  return junk === undefined
    ? [[folder, 'inbox']]
    : [
        [folder, 'inbox'],
        [junk, 'spam'],
      ]
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

const LOOK_MS = 30_000
const STEP_MS = 15_000
const METER_MS = 50
/** A list of thousands of folders has less. */
const MOST_BYTES = 2 ** 22
const MOST_OF_ANSWER = 65_536
/** Mails with the same word. */
const MOST_COPIES = 10
const MOST_REASON = 200
