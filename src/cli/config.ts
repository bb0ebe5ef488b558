import { checkConfigFiles, renderExample } from '../config/load.ts'
import { becomeOwnerOf, readConfigOf, requireConfig } from './cli-context.ts'
import { configFailure } from './failure.ts'
import { print, printJson, table } from './print.ts'

/** Prints that the config is valid. Root reads the files as the owner of the data directory, as the server will. Throws
 *  CommandFailure (exit code 2) with all faults of the config and of the files that it names. */
export function checkConfig({ config: file }: { config: string }): void {
  becomeOwnerOf(requireConfig(file).dataDir)
  const config = requireConfig(file)
  const faults = checkConfigFiles(config, file || 'environment')
  if (faults.length > 0) throw configFailure(faults)
  print(`${file || 'environment'}: configuration is valid`)
}

/** Prints config.example.toml: every key, its description and its default. */
export function printExample(): void {
  print(renderExample().trimEnd())
}

/** Prints key, value and source of the settings that are set, or of all settings with `effective`. Hides secrets. */
export function printSettings(options: { config: string; effective?: true; json?: true }): void {
  const all = readConfigOf(options.config).settings()
  const shown = all.filter(({ isGiven }) => options.effective || isGiven)
  const records = shown.map(({ key, value, source }) => ({ key, value, source }))
  if (options.json) printJson({ data: records })
  else print(table(['key', 'value', 'source'], records.map(Object.values)))
}
