import { checkConfigFiles, renderExample } from '../config.ts'
import { configFailure } from './failure.ts'
import { requireConfig } from './office.ts'
import { print } from './print.ts'

/** Says that the config is well; throws every fault of it, and of the files it names, with exit code 2. */
export function checkConfig({ config: file }: { config: string }): void {
  const config = requireConfig(file)
  const faults = checkConfigFiles(config, file)
  if (faults.length > 0) throw configFailure(faults)
  print(`${file}: all is well`)
}

/** Prints config.example.toml. */
export function printExample(): void {
  print(renderExample().trimEnd())
}
