import { resolve } from 'node:path'
import { requireConfig } from './cli-context.ts'
import { print } from './print.ts'
import { PROGRAM, serviceUnit } from './service-unit.ts'

/** Prints the systemd unit for this program, this config and its data directory. */
export function printUnit({ config: file }: { config: string }): void {
  const { dataDir } = requireConfig(file)
  print(serviceUnit({ program: PROGRAM, file: resolve(file), dataDir }))
}
