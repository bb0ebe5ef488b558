import { describe, expect, test } from 'bun:test'
import { completionFor, pageOf, type Shell } from '../../src/cli/manual/generated.ts'
import { treeOf } from '../../src/cli/manual/tree.ts'
import { createProgram } from '../../src/cli/program.ts'
import { keysByPath } from '../../src/config/paths.ts'
import { allOf } from '../../src/web/manual/command-tree.ts'
import { describeWith, run } from '../support/real-tools.ts'

const program = createProgram(() => {})
const script = (shell: Shell) => completionFor(program, shell)

/** The line before the cursor → the possible completions. */
type Complete = (line: string) => Promise<string[]>

/** Every shell must complete these. */
async function expectCompletion(complete: Complete): Promise<void> {
  expect(await complete('postrider confi')).toEqual(['config'])
  expect(await complete('postrider key ')).toContain('revoke')
  expect(await complete('postrider key r')).toEqual(['revoke'])
  expect(await complete('postrider key create --mode ')).toEqual(['live', 'test'])
  // A value is not a command, wherever it is.
  expect(await complete('postrider key create --name domain --mod')).toEqual(['--mode'])
  expect(await complete('postrider domain show key --js')).toEqual(['--json'])
  expect(await complete('postrider config check --config scripts/check-l')).toEqual(['scripts/check-layers.ts'])
  expect(await complete('postrider key create --domain ')).toEqual([])
}

const lines = (output: string) => output.split('\n').filter((line) => line !== '')

describe('the tree of commands', () => {
  test('has every command with its purpose', () => {
    const nodes = allOf(treeOf(program))
    expect(nodes.map(({ path }) => path)).toEqual(expect.arrayContaining(['', 'try', 'key create', 'completion']))
    expect(nodes.filter(({ about }) => about === '')).toEqual([])
  })
})

describeWith(['bash', 'shellcheck'], 'completion for bash', () => {
  test('is a script without errors', async () => {
    const checked = await run(['shellcheck', '--shell=bash', '-'], { input: script('bash') })
    expect(checked).toEqual({ exitCode: 0, output: '' })
  })

  test('completes commands, options and their values', async () => {
    await expectCompletion(async (line) => {
      const words = line.split(' ')
      const asked = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _postrider 2>/dev/null`
      const { output } = await run(['bash', '-s'], {
        input: `${script('bash')}\n${asked}\nprintf '%s\\n' "\${COMPREPLY[@]}"`,
      })
      return lines(output)
    })
  })

  test('takes --mode=live, which comes as three words', async () => {
    const asked = 'COMP_WORDS=(postrider key create --mode = l); COMP_CWORD=5; _postrider; echo "$COMPREPLY"'
    expect((await run(['bash', '-s'], { input: `${script('bash')}\n${asked}` })).output).toBe('live\n')
  })
})

describeWith(['zsh'], 'completion for zsh', () => {
  test('is a script that zsh accepts, and registers itself', async () => {
    expect(await run(['zsh', '-n', '/dev/stdin'], { input: script('zsh') })).toEqual({ exitCode: 0, output: '' })
    const sourced = `autoload -Uz compinit && compinit -u -D\n${script('zsh')}\nprint -r -- $_comps[postrider]`
    expect(await run(['zsh', '-f', '-s'], { input: sourced })).toEqual({ exitCode: 0, output: '_postrider\n' })
  })
})

describeWith(['fish'], 'completion for fish', () => {
  test('completes commands, options and their values', async () => {
    const env = { ...(process.env as Record<string, string>), XDG_CONFIG_HOME: '/nowhere', XDG_DATA_HOME: '/nowhere' }
    await expectCompletion(async (line) => {
      const input = `${script('fish')}\ncomplete -C '${line}'`
      const { output } = await run(['fish', '--no-config', '-c', input], { env })
      return lines(output).map((each) => each.split('\t', 1)[0]!)
    })
  })
})

describeWith(['groff'], 'the manual', () => {
  for (const page of ['postrider', 'config'] as const) {
    test(`renders without a warning: ${page}`, async () => {
      const text = pageOf(program, page)
      expect(await run(['groff', '-man', '-ww', '-Tutf8', '-z'], { input: text })).toEqual({ exitCode: 0, output: '' })
    })
  }

  test('names every command, option and key of the config', async () => {
    const rendered = async (page: 'postrider' | 'config') => {
      const { output } = await run(['groff', '-man', '-Tascii', '-P-cbou', '-rLL=500n'], {
        input: pageOf(program, page),
      })
      return output
    }
    const commands = await rendered('postrider')
    for (const { path, options, children } of allOf(treeOf(program))) {
      if (children.length > 0) continue
      expect(commands).toContain(`postrider ${path}`)
      for (const { flags, names } of options) if (!names.includes('--help')) expect(commands).toContain(flags)
    }
    const config = await rendered('config')
    for (const path of keysByPath().keys()) {
      expect(config).toContain(path.split('.').at(-1)!)
      expect(config).toContain(`[${path.split('.').slice(0, -1).join('.')}]`.replace('[]', ''))
    }
  })
})
