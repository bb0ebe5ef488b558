import { checkConfigFiles, renderExample } from '../config/load.ts'
import { configFailure } from './failure.ts'
import { readConfigOf, requireConfig } from './office.ts'
import { print, printJson, table } from './print.ts'

/** Says that the config is well; throws every fault of it, and of the files it names, with exit code 2. */
export function checkConfig({ config: file }: { config: string }): void {
  const config = requireConfig(file)
  const faults = checkConfigFiles(config, file || 'environment')
  if (faults.length > 0) throw configFailure(faults)
  print(`${file || 'environment'}: all is well`)
}

/** Prints config.example.toml. */
export function printExample(): void {
  print(renderExample().trimEnd())
}

/** Prints what is set and where, or with `effective` every key as it is in effect; secrets are not shown. */
export function printSettings(options: { config: string; effective?: true; json?: true }): void {
  const all = readConfigOf(options.config).settings()
  const shown = all.filter(({ isGiven }) => options.effective || isGiven)
  const records = shown.map(({ key, value, source }) => ({ key, value, source }))
  if (options.json) printJson({ data: records })
  else print(table(['key', 'value', 'source'], records.map(Object.values)))
}
