import { createInterface } from 'node:readline'

/** Asks on standard error. Only "yes" confirms; a closed input is a no. */
export async function askToConfirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await new Promise<string | undefined>((resolve) => {
    lines.once('close', () => resolve(undefined))
    lines.question(`${question} Type yes to continue: `, resolve)
  })
  lines.close()
  if (answer === undefined) process.stderr.write('\nNo answer: repeat the command with --yes.\n')
  return answer?.trim() === 'yes'
}
