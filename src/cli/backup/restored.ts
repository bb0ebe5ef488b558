import { print, printJson } from '../print.ts'
import { DUMP, lastOf, type Manifest } from './manifest.ts'
import type { Counts } from './release.ts'
import type { Checked } from './unpack.ts'

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
    /** Null for an installation with PostgreSQL. */
    checked: Checked | null
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
      secrets: done.checked?.secrets ?? null,
      composed: done.checked?.composed ?? null,
      held: held && {
        deliveries: held.deliveries,
        webhook_deliveries: held.webhookDeliveries,
        inbound_deliveries: held.inboundDeliveries,
      },
    })
    return
  }
  print(`The backup is complete: ${manifest.hostname}, made ${manifest.made_at} by Postrider ${manifest.program}.
${checkedWords(manifest, done.checked)}`)
  if (place === null) return
  print(`Restored to ${place.dataDir}.`)
  if (place.newConfig) print(`Config written to ${options.config}.`)
  if (done.replaced !== null) print(`The previous data is in ${done.replaced}. Delete it when you no longer need it.`)
  if (held === null) return
  const sum = held.deliveries + held.webhookDeliveries + held.inboundDeliveries
  if (sum > 0) print(heldWords(held, manifest.made_at))
}

function checkedWords(manifest: Manifest, checked: Checked | null): string {
  if (checked !== null) {
    const { secrets, composed } = checked
    return `Checksums and database are valid, ${secrets} secrets decrypted, ${composed} sample messages composed.`
  }
  if (lastOf(manifest) === DUMP) return 'Checksums are valid. It contains a dump of the PostgreSQL database.'
  return `Checksums are valid. It does not contain the PostgreSQL database: restore that from its own backup, then run
postrider restore adopt`
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
