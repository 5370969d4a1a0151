import { edit, type Mutant, proof } from './mutant.ts'

const challenges = (title: string) => proof('src/api/challenges/challenges.test.ts', title)
const devices = (title: string) => proof('src/api/challenges/device-users.test.ts', title)

const approval = 'src/api/challenges/approve-challenge.ts'
const store = 'src/api/challenges/store.ts'

/** Challenges of users: bugs here pay twice, or without the user. */
export const challengeMutants: readonly Mutant[] = [
  {
    name: 'approved-again',
    about: 'a challenge is carried out again by each approval that was under way',
    edits: [
      edit(approval, "if (row.status === 'COMPLETE' || !opened) return", 'if (!opened) return'),
      edit(approval, '  requireOpen(ctx, row)\n  const nowMs', '  const nowMs'),
    ],
    test: challenges('however often it is approved at once'),
  },
  {
    name: 'challenge-of-any-user',
    about: 'a user reads and approves the challenges of others',
    edits: [edit(store, 'and c.user_id = ', "and '' <> ")],
    test: challenges('refuses other users, sessions, challenges, purposes and repeated submissions'),
  },
  {
    name: 'challenge-without-end',
    about: 'a challenge can be approved after its hour',
    edits: [
      edit(approval, "if (status === 'EXPIRED') throw new ApiError('challengeExpired')", 'void status'),
    ],
    test: challenges('expires after an hour'),
  },
  {
    name: 'failure-forgotten',
    about: 'a refused challenge stays pending',
    edits: [edit(approval, 'ctx.afterRollback.push(() => noteFailure(ctx, row, error))', 'void noteFailure')],
    test: challenges('fails with the error of what it asked for, and stays so'),
  },
  {
    name: 'told-when-made',
    about: 'the notification of a challenge tells of one that was just made',
    edits: [
      edit(
        'src/api/challenges/challenge-notification.ts',
        "if (type === 'challenge.created') return undefined",
        'void type',
      ),
    ],
    test: challenges('tells subscribers of each challenge that ended, once'),
  },
  {
    name: 'any-purpose',
    about: 'a submission for another purpose is not refused as such',
    edits: [
      edit(
        approval,
        "if (purpose === 'addDevice' || body.purpose !== purpose)",
        "if (purpose === 'addDevice')",
      ),
    ],
    test: challenges('refuses other users, sessions, challenges, purposes and repeated submissions'),
  },
  {
    name: 'device-of-any-session',
    about: 'a session approves on a device that was not added',
    edits: [
      edit(
        approval,
        "return devices.includes(deviceId) ? 'openWithDevice' : 'addDevice'",
        "return devices.length > 0 ? 'openWithDevice' : 'addDevice'",
      ),
    ],
    test: devices('approve with the secret of their device'),
  },
]
