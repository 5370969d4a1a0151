import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { runCommand } from '#testing/processes/command'

const scriptOf = async (shell: string) => (await runCommand({ command: 'completion', args: [shell] })).stdout

/** The words that bash offers after this line, the last of which is begun. */
function offered(script: string, line: string): string[] {
  const words = line.split(' ')
  const ask = `${script}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})
COMP_CWORD=${words.length - 1}
_bezant
printf '%s\\n' "\${COMPREPLY[@]}"`
  return execFileSync('bash', ['-c', ask], { encoding: 'utf8' }).split('\n').filter(Boolean)
}

it.each([
  ['bezant sand', ['sandbox']],
  ['bezant we', ['webhook-keys']],
  ['bezant sandbox c', ['chain', 'clock']],
  ['bezant sandbox clock adv', ['advance']],
  ['bezant sandbox chain mine BASE-SEPOLIA --bl', ['--blocks']],
  ['bezant sandbox --eph', ['--ephemeral']],
  ['bezant chain list --js', ['--json']],
  ['bezant completion ', ['bash', 'zsh', 'fish', '--help']],
  ['bezant nothing --', []],
])('bash completes %j', async (line, words) => {
  expect(offered(await scriptOf('bash'), line)).toEqual(words)
})

it('fish and zsh get the same words, and another shell is refused', async () => {
  expect(await scriptOf('fish')).toContain(
    `-n '__fish_seen_subcommand_from sandbox; and __fish_seen_subcommand_from clock' -a 'show advance freeze release`,
  )
  expect(await scriptOf('zsh')).toContain('bashcompinit')
  const { code, stderr } = await runCommand({ command: 'completion', args: ['bsh'] })
  expect([code, stderr]).toEqual([2, expect.stringContaining('did you mean bash?')])
  const fsh = await runCommand({ command: 'completion', args: ['fsh'] })
  expect([fsh.code, fsh.stderr]).toEqual([2, expect.stringContaining('did you mean fish?')])
})
