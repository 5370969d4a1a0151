import { readFileSync } from 'node:fs'

/** The block of shell commands of docs/operate.md that contains a text, under a heading. */
export function documentedBlock(heading: string, containing: string): string {
  const [, section] = readFileSync('docs/operate.md', 'utf8').split(`\n## ${heading}\n`)
  const blocks = section!.split('\n## ')[0]!.matchAll(/^```sh\n([\s\S]+?)^```/gm)
  const found = [...blocks].map(([, block]) => block!).filter((block) => block.includes(containing))
  if (found.length !== 1) throw new Error(`${found.length} blocks under "${heading}" contain ${containing}`)
  return found[0]!
}

/** The same commands with the node of a test in the place of the documented ones. */
export const withNode = (block: string, rpcUrl: string): string =>
  block.replace(/^\[\{"blockchain".*$/m, JSON.stringify([{ blockchain: 'BASE', rpcUrl }]))
