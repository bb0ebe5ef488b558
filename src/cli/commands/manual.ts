import { Argument, type Command } from 'commander'

/** What helps to type commands, and to read of them. */
export function addManual(program: Command): void {
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
