import { get, type Json } from '../../kit/api.ts'
import { number } from '../../kit/format.ts'
import { mode } from '../../kit/state.ts'

/** Default range of /v1/stats. */
const DAYS = 30

/** Recipients of each template in 30 days, by its ID, in the chosen mode; the 100 with the most. Rejects with ApiError. */
export async function sentByTemplate(signal?: AbortSignal): Promise<Map<string, number>> {
  const { groups } = await get('/v1/stats', { group_by: 'template', mode: mode.value }, signal)
  return new Map(groups.map(({ key, accepted }: Json) => [key, accepted]))
}

/** `1,204 messages in 30 days` */
export function sentText(count: number): string {
  return `${number(count)} ${count === 1 ? 'message' : 'messages'} in ${DAYS} days`
}
