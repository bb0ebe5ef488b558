import type { Command } from 'commander'
import { VERSION } from '../../version.ts'
import { bashCompletion } from './bash.ts'
import { commandPage } from './command-page.ts'
import { configPage } from './config-page.ts'
import { fishCompletion } from './fish.ts'
import { treeOf } from './tree.ts'
import { zshCompletion } from './zsh.ts'

/** Functions that generate the completion script, by shell. */
export const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }
export type Shell = keyof typeof SHELLS

/** Completion script of a program for a shell. */
export function completionFor(program: Command, shell: Shell): string {
  return SHELLS[shell](treeOf(program))
}

/** Man page of a program, as man(7) source: `postrider` is postrider(1), `config` is postrider-config(5). */
export function pageOf(program: Command, page: 'postrider' | 'config'): string {
  return page === 'config' ? configPage(VERSION) : commandPage(treeOf(program), VERSION)
}
