import { VERSION } from '../../version.ts'
import { print, printError, printJson } from '../print.ts'
import type { Journal, ServiceRecord } from './journal.ts'
import type { Place } from './place.ts'
import { stepsText } from './prepare.ts'
import type { Release } from './release.ts'
import type { Ended } from './steps.ts'

interface Plan {
  release: Release
  place: Place
  service: ServiceRecord
  /** Schema steps that the new version makes. */
  steps: number
  isPackage: boolean
  options: { check?: true; json?: true }
}

/** Prints that there is nothing newer. */
export function printCurrent({ check, json }: { check?: true; json?: true }): void {
  if (!json) print(`${VERSION} is the newest version; nothing was changed`)
  else printJson(check ? { version: VERSION, available: null } : { from: VERSION, to: VERSION, result: 'current' })
}

/** Prints what an upgrade does next, or would do. */
export function printPlan({ release, place, service, steps, isPackage, options }: Plan): void {
  const how =
    service === null ? 'none' : 'unit' in service ? `systemctl restart ${service.unit}` : 'stop and start commands'
  if (options.json) {
    printJson({
      version: VERSION,
      available: release.version,
      signer: release.signer,
      program: place.program,
      is_package: isPackage,
      schema_steps: steps,
      restart: service,
    })
    return
  }
  print(`Postrider ${VERSION} → ${release.version} from ${release.source.name}, signed by ${release.signer}
  program  ${place.program}${isPackage ? ', installed by dpkg' : ''}
  store    ${stepsText(steps)}
  restart  ${how}`)
  if (options.check) print(`Ready to upgrade; nothing was changed.`)
}

/** Prints how an upgrade ended: a failure on standard error. */
export function printEnd(journal: Journal, ended: Ended, { place, json }: { place: Place; json: boolean }): void {
  const { from, to, backup } = journal
  if (json) {
    printJson({
      from,
      to,
      result: ended.result,
      reason: ended.reason || null,
      backup,
      newer_database: ended.newer,
      ready_ms: ended.readyMs,
    })
    return
  }
  const after = ended.readyMs === null ? '' : `, ready after ${(ended.readyMs / 1000).toFixed(1)} s`
  if (ended.result === 'done') {
    const next =
      journal.service === null ? '\nNo server was restarted. Start or restart it to use the new version.' : ''
    print(`Postrider ${to} is installed${after}${next}`)
    return
  }
  const newer =
    ended.newer === null ? '' : `\nThe database of ${to} is ${ended.newer}. Remove it when you have looked at it.`
  const head =
    ended.result === 'rolled_back'
      ? `Went back to ${from}${after}`
      : `${to} was not ready in time and is not replaced. To go back all the same, stop the server, restore the backup with ${place.previous} restore --replace, and put that program in place`
  const packaged =
    journal.is_package && ended.result === 'rolled_back'
      ? `\ndpkg still lists ${to}: install the package of ${from} again.`
      : ''
  const kept = backup === null ? '' : `\nThe backup from before is ${backup}.`
  printError(
    `${head}. Reason:\n${ended.reason}${newer}${kept}${packaged}\nThe log of the server says more: journalctl -u postrider`,
  )
}
