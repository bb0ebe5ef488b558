import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** `doctor`. */
export function addDoctor(program: Command, end: (code: number) => void): void {
  withRecords(program.command('doctor'))
    .description('check the machine, DNS, ports and database and suggest fixes; exits with 1 if a check fails')
    .option('--hostname <name>', 'public hostname of this machine, if there is no config yet')
    .option('--domain <name>', 'also check a sending domain that is not set up yet')
    .addHelpText('after', '\nBefore you install: postrider doctor --domain example.com')
    .action(async (options) => end(await (await import('../doctor.ts')).doctor(options)))
}
