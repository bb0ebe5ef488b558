import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/** The files of a checkout → the tests that can reach a file, the fewest imports first. A test reaches the files that it or
 *  its imports name, also those named as the path of a worker or of a started program. */
export function testReach(root: string): (file: string) => string[] {
  const users = new Map<string, string[]>()
  for (const file of [...new Bun.Glob('{src,test,scripts}/**/*.{ts,tsx}').scanSync(root)].sort()) {
    for (const name of filesNamedIn(root, file)) users.set(name, [...(users.get(name) ?? []), file])
  }
  return (file) => {
    const reached = new Set([file])
    // Breadth first: the loop also visits what it adds.
    for (const each of reached) for (const user of users.get(each) ?? []) reached.add(user)
    return [...reached].filter((each) => /\.test\.tsx?$/.test(each))
  }
}

/** Lines that import types only reach nothing at run time. */
function filesNamedIn(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8').replaceAll(/^(?:import|export) type [^'"]*['"][^'"\n]+['"]/gm, '')
  const paths = [...text.matchAll(/['"](\.{1,2}\/[^'"\n]+\.tsx?)['"]/g)].map(([, path = '']) => path)
  return paths
    .map((path) => relative(root, join(root, dirname(file), path)))
    .filter((path) => existsSync(join(root, path)))
}
