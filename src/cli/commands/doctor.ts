import type { Command } from 'commander'
import { withRecords } from '../options.ts'

/** Is all well, and what to do when it is not. */
export function addDoctor(program: Command, end: (code: number) => void): void {
  withRecords(program.command('doctor'))
    .description('look at machine, DNS, ports and store, and say what to do; exit code 1 when something failed')
    .option('--hostname <name>', 'public name of this machine, where there is no config yet')
    .option('--domain <name>', 'a domain to send from that is not set up yet')
    .addHelpText('after', '\nBefore anything is installed: postrider doctor --domain example.com')
    .action(async (options) => end(await (await import('../doctor.ts')).doctor(options)))
}
