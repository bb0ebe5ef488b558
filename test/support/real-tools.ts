import { describe } from 'bun:test'
import { spawnSync } from 'node:child_process'

/** System programs that tests call; `.ci/run` installs them. */

/** Not in PATH, but requested by name: a command that succeeds where it is installed. */
const COMMANDS: Record<string, string[]> = {
  postgresql: ['sh', '-c', `ls \${POSTGRES_PROGRAMS:-/usr/lib/postgresql}/*/bin/initdb`],
  chromium: ['sh', '-c', 'ls /usr/bin/chromium-headless-shell || ls /usr/bin/chromium'],
  dovecot: ['sh', '-c', 'ls /usr/sbin/dovecot /usr/lib/dovecot/imap /usr/lib/dovecot/lmtp'],
  namespaces: ['unshare', '--net', '--mount', '--pid', '--fork', 'true'],
  dkimpy: ['/usr/bin/python3', '-c', 'import dkim, nacl'],
  'Mail::DKIM': ['/usr/bin/perl', '-MMail::DKIM::Verifier', '-e', '1'],
  django: ['/usr/bin/python3', '-c', 'import django'],
  flask: ['/usr/bin/python3', '-c', 'import flask'],
  'illuminate-mail': ['php', '-r', "exit(stream_resolve_include_path('Illuminate/Mail/autoload.php') ? 0 : 1);"],
  action_mailer: ['ruby', '-e', 'require "action_mailer"'],
  'python3-seccomp': ['/usr/bin/python3', '-c', 'import seccomp'],
  'php-curl': ['php', '-r', "exit(extension_loaded('curl') ? 0 : 1);"],
  'php-zip': ['php', '-r', "exit(extension_loaded('zip') ? 0 : 1);"],
}

/** `describe` for tests that require them (`root`: the right to become another user): skipped where one is missing,
 *  and an error with REAL_PEERS=required. The name then says what is missing, for the list at the end of a run. */
export function describeWith(tools: readonly string[], what: string, tests: () => void): void {
  const missing = tools.filter((tool) => !isHere(tool))
  if (missing.length === 0) return void describe(what, tests)
  if (process.env.REAL_PEERS === 'required') throw new Error(`missing: ${missing.join(', ')}`)
  describe.skip(`${what} (requires ${missing.join(', ')})`, tests)
}

function isHere(tool: string): boolean {
  if (tool === 'root') return process.getuid?.() === 0
  const [program, ...args] = COMMANDS[tool] ?? []
  return program === undefined
    ? Bun.which(tool) !== null
    : Bun.which(program) !== null && spawnSync(program, args).status === 0
}

/** A command → its exit code and output, both streams together. */
export async function run(
  command: string[],
  options: { env?: Record<string, string>; cwd?: string; input?: string; signal?: AbortSignal | undefined } = {},
): Promise<{ exitCode: number; output: string }> {
  const { input = '', ...rest } = options
  const child = Bun.spawn(command, { ...rest, stdin: Buffer.from(input), stdout: 'pipe', stderr: 'pipe' })
  const [output, errors, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  return { exitCode, output: output + errors }
}
