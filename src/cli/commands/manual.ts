import { Argument, type Command } from 'commander'
import { print } from '../print.ts'

/** `manual`, `completion` and `man`. */
export function addManual(program: Command): void {
  program
    .command('manual')
    .description('print a page of the manual, or list its topics')
    .argument('[topic]', 'topic to print; omit it to list all topics')
    .action(async (topic) => (await import('../manual/topic.ts')).printTopic(topic))

  program
    .command('completion')
    .description('print the completion script for a shell')
    .addArgument(new Argument('<shell>', 'shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell) => print((await import('../manual/generated.ts')).completionFor(program, shell)))

  program
    .command('man')
    .description('print a man page, for man -l or to install')
    .addArgument(new Argument('[page]', 'man page').choices(['postrider', 'config']).default('postrider'))
    .action(async (page) => print((await import('../manual/generated.ts')).pageOf(program, page)))
}
