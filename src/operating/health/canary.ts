import type { Domain } from '../../model/domain.ts'
import { fail, pass, skip, type Verdict, warn } from './check.ts'

/** What a look into a mailbox elsewhere found. */
export interface MailboxProbe {
  name: string
  /** Why it cannot be read; null: it can. */
  fault: string | null
  /** Null: the server marks no folder for spam. */
  spamFolder: string | null
}

/** Checks the settings of canary messages: sender, and mailboxes elsewhere. */
export async function checkCanary({
  everyMinutes,
  from,
  find,
  isReady,
  unreadable,
  probe,
}: {
  /** 0 = off. */
  everyMinutes: number
  from: string
  find: (name: string) => Promise<Domain | null>
  isReady: (domain: Domain) => boolean
  /** Faults of password files, without secrets. */
  unreadable: () => string[]
  /** Logs in to each mailbox and opens its folders. Null: health.look_outside is off. */
  probe: (() => Promise<MailboxProbe[]>) | null
}): Promise<Verdict> {
  if (everyMinutes === 0) return skip('canary.every_minutes is 0: the server sends no mail to itself')
  const name = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  const domain = await find(name)
  if (domain === null)
    return fail(`canary: ${name} is not a domain of this server`, `Add it with \`postrider domain add ${name}\`.`)
  if (!isReady(domain))
    return fail(`canary: ${name} is not verified, so no mail goes`, `Run \`postrider dns check ${name}\`.`)
  const faults = unreadable()
  if (faults.length > 0) return warn(`canary: ${faults.join('; ')}`, 'Correct the files in [[canary.mailboxes]].')
  const probes = (await probe?.()) ?? []
  const unread = probes.flatMap(({ name, fault }) => (fault === null ? [] : `${name}: ${fault}`))
  if (unread.length > 0) {
    return warn(
      `canary: cannot read ${unread.join('; ')}`,
      'Correct host, port, tls, ca_file, username, password_file and folders of the mailbox in [[canary.mailboxes]].',
    )
  }
  const unmarked = probes.flatMap(({ name, spamFolder }) => (spamFolder === null ? name : []))
  if (unmarked.length > 0) {
    return warn(
      `canary: the server of ${unmarked.join(', ')} marks no folder as \\Junk, so mail in spam counts as missing`,
      'Set spam_folder of the mailbox in [[canary.mailboxes]].',
    )
  }
  const readable = probes.length === 0 ? '' : `; ${probes.map(({ name }) => name).join(', ')} can be read`
  return pass(`canary messages go every ${everyMinutes} minutes from ${from}${readable}`)
}
