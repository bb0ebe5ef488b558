import type { Store } from '../../storage/store.ts'
import { fail, pass, skip, type Verdict } from './check.ts'

/** A single failure is retried; three are no accident. */
export const CHANNEL_FAILURES = 3

/** Checks that the channels of alerts work. */
export async function checkAlertChannels(
  alerts: Pick<Store['alerts'], 'channels'>,
  names: readonly string[],
): Promise<Verdict> {
  if (names.length === 0) return skip('no [[alerts.channels]] are configured')
  const records = (await alerts.channels()).filter(({ channel }) => names.includes(channel))
  const failing = records.filter(({ failures }) => failures >= CHANNEL_FAILURES)
  if (failing.length === 0) {
    const used = records.filter(({ lastDeliveredAt }) => lastDeliveredAt !== null).length
    return pass(`${used} of ${names.length} alert channels have delivered`)
  }
  const found = failing.map(
    ({ channel, failures, lastError }) => `${channel}: ${failures} failures, last: ${lastError}`,
  )
  return fail(found.join('; '), 'Correct the channel in [[alerts.channels]]. Then run `postrider alert test`.')
}
