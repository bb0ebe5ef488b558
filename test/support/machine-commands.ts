import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROGRAM } from '../cli/command.ts'

/** Puts the commands `postrider` and `systemctl` into a folder, for code of the documentation that runs with HOME and PATH
 *  there. `systemctl` knows the one service. */
export function installCommands(folder: string): void {
  const write = (name: string, script: string) => {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, name), 0o755)
  }
  write('postrider', `exec ${PROGRAM.map((word) => `'${word}'`).join(' ')} "$@"`)
  write('systemctl', SYSTEMCTL)
}

/** Of one service, whose output is kept in a file; `start` waits until it is ready, `stop` until it has ended. */
const SYSTEMCTL = `cd "$HOME"
case "$*" in
'enable --now postrider' | 'start postrider')
  : >log
  postrider serve >>log 2>&1 &
  echo $! >pid
  until grep -q '"event":"ready"' log; do kill -0 $! && sleep 0.05; done ;;
'stop postrider')
  kill "$(cat pid)"
  while kill -0 "$(cat pid)" 2>&-; do sleep 0.05; done ;;
'enable --now postrider-backup.timer') ;;
*) exit 64 ;;
esac
echo "$*"`
