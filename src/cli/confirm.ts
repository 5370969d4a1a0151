import { createInterface } from 'node:readline'

/** Asks on standard error. Only "yes" confirms; no answer is a no. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await new Promise<string>((resolve) => {
    lines.once('close', () => resolve('nobody'))
    lines.question(`${question} Type yes to go on: `, resolve)
  })
  lines.close()
  if (answer === 'nobody') process.stderr.write('\nNobody answered: repeat it with --yes.\n')
  return answer.trim() === 'yes'
}
