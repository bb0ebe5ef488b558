import { Argument, type Command } from 'commander'
import { seconds, withConfig, withRecords } from '../options.ts'

/** What a machine that runs the server asks for. */
export function addService(program: Command, end: (code: number) => void): void {
  withConfig(program.command('unit'))
    .description('print a systemd unit that starts the server with the rights it needs and no others')
    .action(async (options) => (await import('../unit.ts')).printUnit(options))

  withRecords(program.command('status'))
    .description('whether a server runs, where it listens and what waits; exit code 0 only when one runs')
    .action(async (options) => end(await (await import('../status.ts')).status(options)))

  withConfig(program.command('healthcheck'))
    .description('ask the running server whether it is ready; exit code 0 only when it is')
    .option('--timeout <seconds>', 'wait so long for its answer', seconds, 5)
    .action(async (options) => (await import('../healthcheck.ts')).healthcheck(options))

  program
    .command('completion')
    .description('print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'which').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => (await import('../manual/print.ts')).printCompletion(program, shell))

  program
    .command('man')
    .description('print a manual page, for man -l or a file')
    .addArgument(new Argument('[page]', 'which').choices(['postrider', 'config']).default('postrider'))
    .action(async (page) => (await import('../manual/print.ts')).printPage(program, page))
}
