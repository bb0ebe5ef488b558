import type { HeldQueue } from '../../storage/store.ts'
import { print, printJson } from '../print.ts'
import type { Manifest } from './manifest.ts'
import type { Checked } from './unpack.ts'

/** Number of entries on hold, by queue. */
export type Counts = Record<HeldQueue, number>

/** Where a restore put the data. */
export interface RestoredPlace {
  dataDir: string
  /** Text of the backup's config, if it was installed. */
  newConfig: string | null
}

/** Prints the result of a restore. `place` is null after --verify, `held` if nothing is on hold. */
export function printRestored(
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
  print(`The backup is complete: ${manifest.hostname}, made ${manifest.made_at} by Postrider ${manifest.program}.
Checksums and database are valid, ${secrets} secrets decrypted, ${composed} sample messages composed.`)
  if (place === null) return
  print(`Restored to ${place.dataDir}.`)
  if (place.newConfig) print(`Config written to ${options.config}.`)
  if (done.replaced !== null) print(`The previous data is in ${done.replaced}. Delete it when you no longer need it.`)
  if (held === null) return
  const sum = held.deliveries + held.webhookDeliveries + held.inboundDeliveries
  if (sum > 0) print(heldWords(held, manifest.made_at))
}

function heldWords(held: Counts, madeAt: string): string {
  return `
On hold, because they may have been sent after ${madeAt}: ${held.deliveries} deliveries, ${held.webhookDeliveries} webhook deliveries and
${held.inboundDeliveries} inbound deliveries. New mail is sent as usual. When the server runs again, choose one:
   postrider restore release --all                 send everything; messages sent after the backup arrive twice
   postrider restore release --due-after <time>    send only what was due after the old server stopped
   postrider restore release --posts               send only webhook and inbound deliveries; receivers can deduplicate by id
   postrider restore release --discard             cancel everything`
}
