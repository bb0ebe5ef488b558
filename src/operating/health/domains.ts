import { fail, pass, skip, type Verdict, warn } from './check.ts'

/** Result of a new DNS check of one sending domain. */
export interface CheckedDomain {
  name: string
  /** True if the domain could send before this check. */
  wasVerified: boolean
  /** Since when the proof of ownership is missing (ms UTC); null while it is there. */
  missingSince: number | null
  /** Names of required records that are missing or differ; null if DNS gave no answer about one. */
  wrong: readonly string[] | null
}

/** Checks that every sending domain has its DNS records. */
export async function checkDomains(look: () => Promise<readonly CheckedDomain[]>): Promise<Verdict> {
  const all = await look()
  if (all.length === 0) return skip('no sending domain yet; add one with postrider domain add')
  const lost = all.flatMap(({ missingSince, ...domain }) =>
    missingSince === null ? [] : [{ ...domain, missingSince }],
  )
  const [firstLost] = lost
  if (firstLost !== undefined) {
    const named = lost.slice(0, MOST_NAMED).map(({ name, missingSince, wasVerified }) => {
      const since = new Date(missingSince).toISOString().slice(0, 10)
      return `${name} (${wasVerified ? '' : 'failed, '}since ${since})`
    })
    const rest = lost.length > MOST_NAMED ? `, and ${lost.length - MOST_NAMED} more` : ''
    const message = `DNS has no proof of ownership for ${named.join(', ')}${rest}`
    const verdict = lost.some(({ wasVerified }) => wasVerified) ? fail : warn
    const advice = `Run \`postrider dns check ${firstLost.name}\`. After seven days without proof a domain fails.`
    return { ...verdict(message, advice), ...subjectOf(lost) }
  }
  const wrong = all.filter((domain) => domain.wrong !== null && domain.wrong.length > 0)
  const [firstWrong] = wrong
  if (firstWrong !== undefined) {
    const named = wrong.slice(0, MOST_NAMED).map((domain) => `${domain.name} has ${countOf(domain.wrong?.length ?? 0)}`)
    const rest = wrong.length > MOST_NAMED ? `, and ${wrong.length - MOST_NAMED} more domains` : ''
    const message = `${named.join(', ')}${rest}`
    const advice = `Run \`postrider dns check ${firstWrong.name}\`.`
    // A domain that was verified has lost a record while its mail is in progress.
    const verdict = wrong.some(({ wasVerified }) => wasVerified) ? fail : warn
    return { ...verdict(message, advice), ...subjectOf(wrong) }
  }
  const silent = all.filter((domain) => domain.wrong === null)
  if (silent.length > 0) return skip(`DNS did not respond for ${silent.length} of ${all.length} domains`)
  const [only, ...others] = all
  return pass(
    only !== undefined && others.length === 0
      ? `all DNS records of ${only.name} are published`
      : `all DNS records of ${all.length} domains are published`,
  )
}

const countOf = (wrong: number) => `${wrong} missing or different DNS ${wrong === 1 ? 'record' : 'records'}`

const subjectOf = ([first, ...others]: readonly { name: string }[]) =>
  first !== undefined && others.length === 0 ? { subject: first.name } : {}

const MOST_NAMED = 3
