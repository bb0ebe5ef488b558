import type { HeldQueue } from '../../storage/store.ts'
import { print, printJson } from '../print.ts'
import type { Manifest } from './manifest.ts'
import type { Checked } from './unpack.ts'

export type Counts = Record<HeldQueue, number>

export interface RestoredPlace {
  dataDir: string
  /** Text of the backup's config, where there was none yet. */
  newConfig: string | null
}

/** Prints what a backup is and what was done with it; `place` is null when it was only looked at, `held` when nothing is. */
export function tellRestored(
  done: {
    manifest: Manifest
    checked: Checked
    held: Counts | null
    place: RestoredPlace | null
    replaced: string | null
  },
  options: { config: string; json?: true },
): void {
  const { manifest, place, held } = done
  if (options.json) {
    printJson({
      data_dir: place?.dataDir ?? null,
      config: place?.newConfig ? options.config : null,
      replaced: done.replaced,
      made_at: manifest.made_at,
      program: manifest.program,
      schema: manifest.schema,
      instance_id: manifest.instance_id,
      hostname: manifest.hostname,
      secrets: done.checked.secrets,
      composed: done.checked.composed,
      held: held && {
        deliveries: held.deliveries,
        webhook_deliveries: held.webhookDeliveries,
        inbound_deliveries: held.inboundDeliveries,
      },
    })
    return
  }
  const { secrets, composed } = done.checked
  print(`The backup is whole: ${manifest.hostname}, made ${manifest.made_at} by Postrider ${manifest.program}.
All hashes fit, the database holds together, ${secrets} secrets open, ${composed} mails were composed from it.`)
  if (place === null) return
  print(`It is in ${place.dataDir}.`)
  if (place.newConfig) print(`Its config is in ${options.config}.`)
  if (done.replaced !== null) print(`What was there is in ${done.replaced}: remove it when you are sure.`)
  const sum = held === null ? 0 : held.deliveries + held.webhookDeliveries + held.inboundDeliveries
  if (sum > 0) print(heldWords(held!, manifest.made_at))
}

function heldWords(held: Counts, madeAt: string): string {
  return `
Held, since they may have been sent after ${madeAt}: ${held.deliveries} deliveries, ${held.webhookDeliveries} webhook posts and
${held.inboundDeliveries} inbound posts. New mail goes out as usual. When the server runs again:
   postrider restore release --all                 send it all; what was sent after the backup arrives twice
   postrider restore release --due-after <time>    only what was not due before the old server stopped
   postrider restore release --posts               only webhook and inbound posts; their receivers know the ids
   postrider restore release --discard             cancel it`
}
