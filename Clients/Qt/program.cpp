// SPDX-License-Identifier: Apache-2.0
// Copyright the netpath authors
//
// A program that knows Qt alone, for the tests: prints which backend it has, and every change. Its argument is a backend's
// name; without one it takes the first that Qt has for reachability.
#include <QCoreApplication>
#include <QDateTime>
#include <QElapsedTimer>
#include <QNetworkInformation>
#include <cstdio>

static void show(const QNetworkInformation *information)
{
    const qint64 now = QDateTime::currentMSecsSinceEpoch();
    std::printf("%lld.%03d %s reachability=%d portal=%d medium=%d metered=%d\n", now / 1000, int(now % 1000),
                qPrintable(information->backendName()), int(information->reachability()),
                information->isBehindCaptivePortal(), int(information->transportMedium()), information->isMetered());
    std::fflush(stdout);
}

int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
    QElapsedTimer timer;
    timer.start();
    const bool isLoaded = count > 1
        ? QNetworkInformation::loadBackendByName(QString::fromLocal8Bit(arguments[1]))
        : QNetworkInformation::loadBackendByFeatures(QNetworkInformation::Feature::Reachability);
    std::printf("started in %lld us with %s\n", timer.nsecsElapsed() / 1000, isLoaded ? "a backend" : "no backend");
    std::fflush(stdout);
    if (!isLoaded) return 1;
    const QNetworkInformation *information = QNetworkInformation::instance();
    show(information);
    QObject::connect(information, &QNetworkInformation::reachabilityChanged, [=] { show(information); });
    QObject::connect(information, &QNetworkInformation::isMeteredChanged, [=] { show(information); });
    QObject::connect(information, &QNetworkInformation::isBehindCaptivePortalChanged, [=] { show(information); });
    QObject::connect(information, &QNetworkInformation::transportMediumChanged, [=] { show(information); });
    return application.exec();
}
