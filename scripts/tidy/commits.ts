import { execFileSync } from 'node:child_process'
import type { Rule } from './repository.ts'

const subjectMax = 72

export const commitRule: Rule = {
  name: 'the newest commit has a short subject',
  why: `Lists of commits cut a subject after ${subjectMax} characters: the reason belongs in the body.`,
  check: ({ root }) => {
    const subject = execFileSync('git', ['log', '-1', '--format=%s'], { cwd: root, encoding: 'utf8' }).trim()
    return subject.length > subjectMax ? [`"${subject}" has ${subject.length} characters`] : []
  },
}
