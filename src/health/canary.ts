import type { Domain } from '../model/domain.ts'
import { fail, pass, skip, type Verdict, warn } from './check.ts'

/** Checks the settings of canary messages: sender, and the files of mailboxes. */
export async function checkCanary({
  everyMinutes,
  from,
  find,
  isReady,
  unreadable,
}: {
  /** 0 = off. */
  everyMinutes: number
  from: string
  find: (name: string) => Promise<Domain | null>
  isReady: (domain: Domain) => boolean
  /** Faults of password files, without secrets. */
  unreadable: () => string[]
}): Promise<Verdict> {
  if (everyMinutes === 0) return skip('canary.every_minutes is 0: the server sends no mail to itself')
  const name = from.slice(from.lastIndexOf('@') + 1).toLowerCase()
  const domain = await find(name)
  if (domain === null)
    return fail(`canary: ${name} is not a domain of this server`, `Add it: postrider domain add ${name}.`)
  if (!isReady(domain))
    return fail(`canary: ${name} is not verified, so no mail goes`, `Run postrider dns check ${name}.`)
  const faults = unreadable()
  if (faults.length > 0) return warn(`canary: ${faults.join('; ')}`, 'Correct the files in [[canary.mailboxes]].')
  return pass(`canary messages go every ${everyMinutes} minutes from ${from}`)
}
