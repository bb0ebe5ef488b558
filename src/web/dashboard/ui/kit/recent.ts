import { effect, signal } from '@preact/signals'
import { place } from './router.ts'
import { organization, title } from './state.ts'

/** A record whose page was open in this tab. */
export interface Recent {
  path: string
  name: string
}

const MOST = 6
/** Pages of a record: `/messages/msg_…`. */
const RECORD = /^\/[a-z-]+\/[a-z]{3}_[0-9a-z]+$/

/** The last records, newest first. Only this tab has them: names of records and addresses are not stored. */
export const recent = signal<readonly Recent[]>([])

/** Starts to note the records that are opened, and forgets them with the organization. Call it once, at start. */
export function startRecent(): void {
  effect(() => {
    organization.value?.id
    recent.value = []
  })
  effect(() => {
    const name = title.value
    const { path } = place.peek()
    if (name === '' || !RECORD.test(path)) return
    const others = recent.peek().filter((each) => each.path !== path)
    recent.value = [{ path, name }, ...others].slice(0, MOST)
  })
}
